"""What a measure declares about itself, in the file that defines it."""

from collections.abc import Callable
from dataclasses import dataclass

from bears.evaluation.judged_rankings import Floats, JudgedRankings


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure without its cutoff.

    Args:
        name: what a configuration calls it.
        function: returns one value a question, as `bears.evaluation.measures` says.
        cutoff: whether it may be asked for as ``name@k``.
        whole: whether it may be asked for by its bare name, for the whole ranking.
        yes_or_no: whether every value is 0 or 1, so that their mean is a share of the questions.
        gains_by_rank: whether moving a relevant document up never lowers the value, so that the
            orders of tied documents bound it.
        graded: whether the height of a grade counts.
        best: the value of a perfect ranking, if nothing caps it.
    """

    name: str
    function: Callable[[JudgedRankings, int | None], Floats]
    cutoff: bool = True
    whole: bool = False
    yes_or_no: bool = False
    gains_by_rank: bool = True
    graded: bool = False
    best: float = 1
