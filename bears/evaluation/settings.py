"""The settings of an evaluation, and checks of a run against them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field

from bears.errors import ConfigurationError, FormatError
from bears.evaluation.evaluate import Measure, our_name, parse_measure
from bears.evaluation.tie_bounds import Gold
from bears.files.trec import RunTable, read_table
from bears.types import ForbidsExtra, Question

MeasureName = Annotated[str, AfterValidator(our_name)]


@dataclass(frozen=True)
class EvaluationSettings(ForbidsExtra):
    """The settings under ``evaluate`` in the configuration.

    Args:
        measures: names that `bears.evaluation.evaluate` parses.
        curve: the cutoffs of the recall curve.
        main: the measure that orders systems, in comparisons and on the leaderboard.
        tie_order: how to sort documents of equal score: by descending id, as ``trec_eval`` does,
            or by ascending id, as ``anserini`` does.
    """

    measures: Annotated[list[MeasureName], Field(min_length=1)]
    curve: list[Annotated[int, Field(gt=0)]]
    main: MeasureName = "ndcg@10"
    tie_order: Literal["trec_eval", "anserini"] = "trec_eval"

    def read(self, run: Path, gold: Gold) -> RunTable:
        """Read a run for the questions of ``gold``."""
        return read_table(run, gold, ascending_ids=self.tie_order == "anserini")

    def within(self, depth: float, spans: bool) -> tuple[list[Measure], list[str]]:
        """Return the measures that can be taken, and the names of the others.

        Args:
            depth: the largest cutoff.
            spans: whether any question has gold spans.
        """
        asked = [parse_measure(name) for name in dict.fromkeys(self.measures)]
        known = [measure for measure in asked if spans or measure.metric.reads != "spans"]
        measures = [measure for measure in known if not measure.k or measure.k <= depth]
        if not measures:
            raise ConfigurationError(
                f"evaluate.measures has {', '.join(self.measures)}, all of them deeper than "
                f"retrieve.depth, which is {depth}, or for gold spans that no question has; choose "
                "others, or a larger depth"
            )
        return measures, [measure.name for measure in asked if measure not in measures]


def check_found(run: RunTable, questions: Sequence[Question]) -> None:
    """Refuse a run without documents for most questions; raise FormatError."""
    found = set(run.question_ids)
    asked = [q.question_id for q in questions if q.question_type != "no-retrieval"]
    if lacking := [question_id for question_id in asked if question_id not in found]:
        if 2 * len(lacking) <= len(asked):
            return
        raise FormatError(
            f"the run has no document for {len(lacking)} of {len(asked)} questions, such as "
            f"{lacking[0]!r}: it belongs to another benchmark, is incomplete, or the texts are not "
            "in benchmark.language, for which the index was built. Check the run and "
            "sources.NAME.language; if finding nothing is right, set retrieve.score_threshold"
        )


def depth_of(run: RunTable, depth: int) -> float:
    """Return the number of documents per question at which the run was cut, or infinity."""
    return depth if np.diff(run.starts).max(initial=0) <= depth else math.inf
