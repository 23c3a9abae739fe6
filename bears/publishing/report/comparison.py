"""What a comparison of the systems found, as `compare --format json` prints it."""

import math
from collections.abc import Sequence
from typing import Any, NotRequired

import numpy as np
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bears.errors import FormatError
from bears.evaluation.bootstrap import mean_interval
from bears.files.records import problems_of
from bears.results.system import System


class ComparedMean(TypedDict):
    """A system in one measure: its mean, a 95 % interval, who cannot be told apart from it."""

    mean: float | None
    low: float | None
    high: float | None
    group: NotRequired[str]
    rank: NotRequired[tuple[int, int] | None]


class Ranked(TypedDict):
    """A system in every measure."""

    name: str
    measures: dict[str, ComparedMean]


class Pair(TypedDict):
    """Two systems in one measure."""

    measure: str
    a: str
    b: str
    n: int
    difference: float | None
    low: float | None
    high: float | None
    p_holm: float | None
    smallest_difference: float | None
    verdict: str
    ties: NotRequired[str | None]


class Comparison(TypedDict):
    """All systems, and all pairs of them; ``pairs`` is empty where nothing was tested.

    ``main`` is the measure that decides; ``state`` is empty of values from elsewhere.
    """

    systems: list[Ranked]
    pairs: list[Pair]
    corrected_over: NotRequired[str]
    others_corrected_over: NotRequired[str]
    main: NotRequired[str]
    benchmark: NotRequired[str]
    state: NotRequired[str]


def parse_comparison(value: Any, where: str) -> Comparison:
    """A comparison out of JSON; what is not named here is passed over.

    Raises:
        FormatError: naming what does not fit.
    """
    try:
        return TypeAdapter(Comparison).validate_python(value)
    except ValidationError as error:
        raise FormatError(
            f"{where} is no comparison: {problems_of(error)}; `python -m bears compare "
            "--format json` writes one"
        ) from None


def with_all(found: Comparison | None, systems: Sequence[System]) -> Comparison:
    """The comparison, and of each system that it lacks the means, of which nothing was tested."""
    compared: Comparison = found or {"systems": [], "pairs": []}
    known = {system["name"] for system in compared["systems"]}
    added = [_untested(system) for system in systems if system.name not in known]
    return {**compared, "systems": [*compared["systems"], *added]}


def _untested(system: System) -> Ranked:
    measures: dict[str, ComparedMean] = {}
    for name in map(str, system.values):
        defined = system.defined(name)
        # All measures of the pipeline are shares; of one that is not there is no such interval.
        if defined and min(defined) >= 0 and max(defined) <= 1:
            low, high = mean_interval(np.array(defined))
            mean = math.fsum(defined) / len(defined)
            measures[name] = {"mean": mean, "low": low, "high": high}
    return {"name": system.name, "measures": measures}


def corrected_over(comparison: Comparison, measure: str) -> str:
    """Return what the p values of ``measure`` are corrected over."""
    if comparison.get("main", measure) == measure:
        return comparison.get("corrected_over", "")
    return comparison.get("others_corrected_over", "")


def better_of(pair: Pair) -> str | None:
    """The better one of a pair, where one of them surely is."""
    named = {f"{pair['a']} better": pair["a"], f"{pair['b']} better": pair["b"]}
    return named.get(pair["verdict"])


def ranked(comparison: Comparison, measure: str) -> list[Ranked]:
    """The systems by group, and within a group by name: an order within it would be noise."""

    def place(system: Ranked) -> tuple[Any, ...]:
        found = system["measures"].get(measure)
        group = found.get("group", "") if found else ""
        mean = found["mean"] if found else None
        letters = [(letter.isupper(), letter) for letter in group]
        return not group, letters, 0.0 if group else -(mean or 0.0), system["name"]

    return sorted(comparison["systems"], key=place)
