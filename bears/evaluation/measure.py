"""From the name of a measure, as a configuration has it, to something that measures."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bears.errors import ConfigurationError
from bears.evaluation.measures.average_precision import average_precision
from bears.evaluation.measures.ndcg import ndcg
from bears.evaluation.measures.precision import precision
from bears.evaluation.measures.r_precision import r_precision
from bears.evaluation.measures.recall import recall
from bears.evaluation.measures.reciprocal_rank import reciprocal_rank
from bears.evaluation.measures.strict import strict
from bears.evaluation.measures.success import success

Function = Callable[[Sequence[int], Sequence[int], int | None], float | None]

WITH_CUTOFF: dict[str, Function] = {
    "success": success,
    "strict": strict,
    "recall": recall,
    "precision": precision,
    "mrr": reciprocal_rank,
    "ndcg": ndcg,
    "map": average_precision,
}
"""The measures that are asked for as ``name@k``."""

WHOLE_RANKING: dict[str, Function] = {
    "mrr": reciprocal_rank,
    "ndcg": ndcg,
    "map": average_precision,
    "r_precision": r_precision,
}
"""The measures that are asked for by their bare name."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its cutoff. ``name`` is what a configuration and a result call it."""

    name: str
    function: Function
    k: int | None

    def value(self, grades: Sequence[int], judged: Sequence[int]) -> float | None:
        """The value for one question, None where undefined; see `bears.evaluation.measures`."""
        return self.function(grades, judged, self.k)


def parse(name: str) -> Measure:
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
