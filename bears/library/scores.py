"""What a run scores, and whether the difference of two is real."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from bears.errors import FormatError
from bears.evaluation.comparison.result import compare as compare_systems
from bears.publishing.report.advice import mean_of
from bears.results.system import System

SHOWN = 3
"""Means that a repr shows."""
ROWS = 12
"""Measures that the table of a notebook shows."""


@dataclass(frozen=True)
class Scores:
    """What a run scores.

    Args:
        by_question: a row for each question, by its id; a column for each measure, NaN where it
            is undefined.
        kinds: of the same rows, ``question_type``, ``source_dataset`` and ``cluster``.
        unmatched: the passages of a system that are from no document, or from one of several:
            question_id and text. They count as wrong.
    """

    by_question: pd.DataFrame
    kinds: pd.DataFrame
    unmatched: Sequence[tuple[str, str]] = ()

    def __repr__(self) -> str:
        shown = [f"{name} {mean:.4f}" for name, mean in self.means.head(SHOWN).items()]
        more = [f"… and {n} more"] if (n := len(self.means) - SHOWN) > 0 else []
        lost = f"; {len(self.unmatched)} passages unmatched" if self.unmatched else ""
        return f"Scores({len(self.by_question)} questions: {', '.join([*shown, *more])}{lost})"

    @property
    def means(self) -> pd.Series:
        """Return the mean of each measure over the questions for which it is defined."""
        return self.by_question.mean()

    @property
    def intervals(self) -> pd.DataFrame:
        """Return the ``mean`` of each measure and its 95 % interval, from ``low`` to ``high``."""
        system = System("", "", self.by_question, self.kinds)
        found = {name: mean_of(system, str(name)) for name in self.by_question}
        known = {name: one for name, one in found.items() if one}
        return pd.DataFrame.from_dict(known, "index", columns=["mean", "low", "high"])

    def _repr_html_(self) -> str:
        return str(self.intervals.head(ROWS).to_html(float_format="{:.4f}".format))


def compare(
    scores: Mapping[str, Scores], measures: Sequence[str] = (), equal_within: float | None = None
) -> pd.DataFrame:
    """Compare all pairs of systems, as ``bears compare`` does.

    Args:
        scores: name of a system to what it scored, on the same questions.
        measures: those to compare; none: all that the systems share.
        equal_within: a difference that does not matter.

    Returns:
        A row for each measure and pair: ``measure``, ``a``, ``b``, ``mean_a``, ``mean_b``,
        ``difference`` with its 95 % interval ``low`` and ``high``, ``p``, ``p_holm`` (corrected
        over all pairs, the first measure by itself and the others together),
        ``smallest_difference`` that this number of questions can show, ``verdict``, ``n``.

    Raises:
        FormatError: fewer than two systems, other questions, or no shared measure.
    """
    if len(scores) < 2:
        raise FormatError(f"{len(scores)} systems: expected two or more to compare")
    systems = [System(name, "", one.by_question, one.kinds) for name, one in scores.items()]
    return pd.DataFrame(compare_systems(systems, measures, margin=equal_within)["pairs"])
