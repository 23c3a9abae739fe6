"""What is measured, as the configuration says, and whether a run can be measured so."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from bears.errors import ConfigurationError, FormatError
from bears.evaluation.measure import Measure, parse_measure
from bears.evaluation.tie_bounds import Gold
from bears.files.run_table import RunTable
from bears.files.trec import read_table
from bears.types import Closed, Question


@dataclass(frozen=True)
class EvaluationSettings(Closed):
    """What is measured, as ``evaluate`` in the configuration has it.

    Args:
        measures: names as `bears.evaluation.measure` knows them.
        curve: the k of the recall curve.
        ignore_unknown: leave out questions of the run that the benchmark lacks; else they are an
            error.
        main: the measure that orders systems, in comparisons and on the leaderboard.
        tie_order: of documents of equal score: by descending id, as ``trec_eval``, or by
            ascending id, as ``anserini``.
    """

    measures: Annotated[list[str], Field(min_length=1)]
    curve: list[Annotated[int, Field(gt=0)]]
    ignore_unknown: bool = False
    main: str = "ndcg@10"
    tie_order: Literal["trec_eval", "anserini"] = "trec_eval"

    def read(self, run: Path, gold: Gold) -> RunTable:
        """Read a run over the questions of ``gold``."""
        return read_table(run, gold, self.ignore_unknown, self.tie_order == "anserini")

    def within(self, depth: float) -> tuple[list[Measure], list[str]]:
        """Return the measures that look no deeper than ``depth``, and the names of the others."""
        asked = [parse_measure(name) for name in dict.fromkeys(self.measures)]
        measures = [measure for measure in asked if not measure.k or measure.k <= depth]
        if not measures:
            raise ConfigurationError(
                f"evaluate.measures has {', '.join(self.measures)}, all of them deeper than "
                f"retrieve.depth, which is {depth}"
            )
        return measures, [measure.name for measure in asked if measure not in measures]


def check_found(run: RunTable, questions: Sequence[Question]) -> None:
    """Refuse a run that measures nothing: without a threshold a retriever finds something."""
    found = set(run.question_ids)
    asked = [q.question_id for q in questions if q.question_type != "no-retrieval"]
    if lacking := [question_id for question_id in asked if question_id not in found]:
        if 2 * len(lacking) <= len(asked):
            return
        raise FormatError(
            f"the run has no document for {len(lacking)} of {len(asked)} questions, such as "
            f"{lacking[0]!r}: it is another benchmark's or incomplete, or the texts are not in "
            "benchmark.language, for which the index was made. Look at the run and at "
            "sources.NAME.language; where finding nothing is right, set retrieve.score_threshold"
        )


def depth_of(run: RunTable, depth: int) -> float:
    """Return how many documents a question the run was cut at; infinity for a deeper run."""
    return depth if np.diff(run.starts).max(initial=0) <= depth else math.inf
