"""From the name of a measure, as a configuration has it, to something that measures."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from bears.errors import ConfigurationError
from bears.evaluation.judged_rankings import Floats, JudgedRankings
from bears.evaluation.measures.average_precision import average_precision
from bears.evaluation.measures.kor_map_official import kor_map_official
from bears.evaluation.measures.kor_map_strict import kor_map_strict
from bears.evaluation.measures.ndcg import ndcg
from bears.evaluation.measures.precision import precision
from bears.evaluation.measures.r_precision import r_precision
from bears.evaluation.measures.recall import recall
from bears.evaluation.measures.reciprocal_rank import reciprocal_rank
from bears.evaluation.measures.retrieval_accuracy import retrieval_accuracy
from bears.evaluation.measures.strict import strict
from bears.evaluation.measures.success import success

Function = Callable[[JudgedRankings, int | None], Floats]

WITH_CUTOFF: dict[str, Function] = {
    "success": success,
    "strict": strict,
    "recall": recall,
    "precision": precision,
    "mrr": reciprocal_rank,
    "ndcg": ndcg,
    "map": average_precision,
    "retrieval_accuracy": retrieval_accuracy,
}
"""The measures that are asked for as ``name@k``."""

WHOLE_RANKING: dict[str, Function] = {
    "mrr": reciprocal_rank,
    "ndcg": ndcg,
    "map": average_precision,
    "r_precision": r_precision,
    "kor_map_official": kor_map_official,
    "kor_map_strict": kor_map_strict,
}
"""The measures that are asked for by their bare name."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its cutoff. ``name`` is what a configuration and a result call it."""

    name: str
    function: Function
    k: int | None

    @property
    def yes_or_no(self) -> bool:
        """Whether every value is 0 or 1, so that their mean is a share of the questions."""
        return self.function in (success, strict)

    @property
    def gains_by_rank(self) -> bool:
        """Whether moving a relevant document up never lowers the value, so that ties bound it."""
        return self.function is not kor_map_official

    @property
    def best(self) -> float:
        """The value of a perfect ranking, if nothing caps it."""
        return 100 if self.function is retrieval_accuracy else 1

    def values(self, rankings: JudgedRankings) -> Floats:
        """One value a question, NaN where undefined; see `bears.evaluation.measures`."""
        return self.function(rankings, self.k)


def parse_measure(name: str) -> Measure:
    """The measure that ``name`` asks for: ``ndcg@10``, or ``ndcg`` for the whole ranking.

    Raises:
        ConfigurationError: no measure has this name, it needs a cutoff or takes none, or the
            cutoff is not a whole number from 1 in its plain form.
    """
    match = re.fullmatch(r"([a-z_]+)(?:@([1-9][0-9]*))?", name)
    word, digits = match.groups() if match else (name, None)
    function = (WITH_CUTOFF if digits else WHOLE_RANKING).get(word)
    if function is None:
        right = [f"{each}@k" for each in WITH_CUTOFF] + list(WHOLE_RANKING)
        raise ConfigurationError(
            f"unknown measure {name!r}; the measures are {', '.join(right)} (k a whole number >= 1)"
        )
    return Measure(name, function, int(digits) if digits else None)
