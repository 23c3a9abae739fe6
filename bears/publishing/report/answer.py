"""The answer first: which system to take, by how much it is ahead, and how sure that is."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from bears.publishing.report.comparison import (
    ComparedMean,
    Comparison,
    Pair,
    better_of,
    corrected_over,
)
from bears.publishing.report.words import p_value, unit
from bears.results.system import System

Said = tuple[str, dict[str, Any]]
"""A sentence of words.json by its key, and what stands in it."""


def answer(comparison: Comparison, systems: Sequence[System], measure: str) -> list[Said]:
    """Return two or three sentences for the person who decides."""
    standing = {
        each["name"]: found
        for each in comparison["systems"]
        if (found := each["measures"].get(measure)) and found["mean"] is not None
    }
    ranked = sorted(standing, key=lambda name: (-(standing[name]["mean"] or 0), name))
    if not ranked:
        return [("answer_nothing", {"measure": measure})]
    if len(ranked) == 1:
        return [("answer_only", _of(ranked[0], standing, measure)), ("answer_only_sure", {})]
    pairs = {
        frozenset((pair["a"], pair["b"])): pair
        for pair in comparison["pairs"]
        if pair["measure"] == measure
    }
    if any(frozenset((ranked[0], other)) not in pairs for other in ranked[1:]):
        said = _of(ranked[0], standing, measure) | {"b": ranked[1]}
        return [("answer_untested", said), ("answer_untested_sure", {})]
    over = corrected_over(comparison, measure)
    return _tested(ranked, standing, pairs, systems, measure, over)


def _of(name: str, standing: Mapping[str, ComparedMean], measure: str) -> dict[str, Any]:
    found = standing[name]
    return {"a": name, "measure": measure, **{key: found[key] for key in ("mean", "low", "high")}}


def _tested(
    ranked: Sequence[str],
    standing: Mapping[str, ComparedMean],
    pairs: Mapping[frozenset[str], Pair],
    systems: Sequence[System],
    measure: str,
    over: str,
) -> list[Said]:
    best = ranked[0]
    against = {other: pairs[frozenset((best, other))] for other in ranked[1:]}
    near = [best, *(name for name in ranked[1:] if not _beats(best, against[name]))]
    # One that cannot be told from the best may still be surely behind another such.
    leaders = [
        name
        for name in near
        if name == best
        or not any(o != name and _beats(o, pairs.get(frozenset((o, name)))) for o in near)
    ]
    rivals = leaders[1:] or ranked[1:2]
    pair = against[rivals[0]]
    said = _of(best, standing, measure) | _lead(best, pair)
    said |= {"b": pair["b"] if pair["a"] == best else pair["a"], "n": pair["n"]}
    said |= {"leaders": leaders, "others": [name for name in ranked if name not in leaders]}
    said |= {"over": over}
    quickest = _quickest([system for system in systems if system.name in leaders])
    if len(leaders) == 1:
        return [("answer_winner", said), ("answer_winner_sure", said)]
    first = "answer_none" if len(leaders) == len(ranked) else "answer_leaders"
    then = ("answer_quickest", quickest) if quickest else ("answer_more_questions", {})
    return [(first, said), then, _detectable(leaders, pairs)]


def _detectable(leaders: Sequence[str], pairs: Mapping[frozenset[str], Pair]) -> Said:
    """Return what could have been seen between the leaders, which differs from pair to pair."""
    among = (pairs.get(frozenset(pair)) for pair in combinations(leaders, 2))
    # Systems of the very same values say nothing of what could have been seen.
    sizes = sorted(size for pair in among if pair and (size := pair["smallest_difference"]))
    if not sizes:
        return "answer_no_smallest", {}
    if round(sizes[0], 3) == round(sizes[-1], 3):
        return "answer_smallest", {"smallest": sizes[0]}
    return "answer_smallest_range", {"smallest": sizes[0], "largest": sizes[-1]}


def _beats(best: str, pair: Pair | None) -> bool:
    return pair is not None and better_of(pair) == best


def _lead(best: str, pair: Pair) -> dict[str, Any]:
    """The difference as it is seen from the best."""
    difference, low, high = pair["difference"], pair["low"], pair["high"]
    if pair["a"] != best:
        negated = (None if value is None else -value for value in (difference, high, low))
        difference, low, high = negated
    return {"difference": difference, "low": low, "high": high, "p": p_value(pair["p_holm"])}


def _quickest(systems: Sequence[System]) -> dict[str, Any] | None:
    """The quickest of several systems, if all of them were timed."""
    timed = [(system.cost["p50_ms"], system.name) for system in systems if "p50_ms" in system.cost]
    if len(timed) < 2 or len(timed) < len(systems):
        return None
    milliseconds, name = min(timed)
    return {"quickest": name, "ms": unit(milliseconds, "milliseconds")}
