"""The properties that a measure declares in the file that defines it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bears.evaluation.judged_rankings import Floats


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure without its cutoff.

    Args:
        name: its name in configurations.
        function: from `JudgedRankings`, or from `SpanRankings`, and the cutoff to one value per
            question; see `bears.evaluation.measures`.
        cutoff: whether ``name@k`` is allowed.
        whole: whether the bare name is allowed, for the whole ranking, or for a measure of spans
            for as many chunks as touch the gold.
        yes_or_no: whether every value is 0 or 1, so that the mean is a share of the questions.
        gains_by_rank: whether moving a relevant document up never lowers the value. If so, the
            best and the worst order of tied documents bound it.
        graded: whether the size of a grade counts.
        spans: whether it reads chunks and gold spans in place of documents.
        best: the value of a perfect ranking, unless the gold caps it.
        foreign: its names in ir_measures, which defines it in the same way for every question that
            has a relevant document.
    """

    name: str
    function: Callable[[Any, int | None], Floats]
    cutoff: bool = True
    whole: bool = False
    yes_or_no: bool = False
    gains_by_rank: bool = True
    graded: bool = False
    spans: bool = False
    best: float = 1
    foreign: tuple[str, ...] = ()
