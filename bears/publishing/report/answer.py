"""Answer first which system to take, by how much it is ahead, and how certain that is."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from bears.publishing.report.comparison import Comparison, better_of
from bears.publishing.report.words import p_value, unit
from bears.results.system import System

Sentence = tuple[str, dict[str, Any]]
"""The key of a sentence in words.json, and the values that it needs."""
Pairs = Mapping[frozenset[str], Mapping[str, Any]]


def answer(comparison: Comparison, systems: Sequence[System], measure: str) -> list[Sentence]:
    """Return two or three sentences for the person who decides."""
    means = {
        system["name"]: found
        for system in comparison["systems"]
        if (found := system["measures"].get(measure)) and found["mean"] is not None
    }
    ranked = sorted(means, key=lambda name: (-means[name]["mean"], name))
    if not ranked:
        return [("answer_nothing", {"measure": measure})]
    best = ranked[0]
    about = {"a": best, "measure": measure}
    about |= {key: means[best][key] for key in ("mean", "low", "high")}
    if len(ranked) == 1:
        return [("answer_only", about), ("answer_only_sure", {})]
    pairs: Pairs = {
        frozenset((pair["a"], pair["b"])): pair
        for pair in comparison["pairs"]
        if pair["measure"] == measure
    }
    leaders = _leaders(ranked, pairs)
    rival = leaders[1] if len(leaders) > 1 else ranked[1]
    others = [name for name in ranked if name not in leaders]
    about |= _lead(best, pairs[frozenset((best, rival))])
    about |= {"b": rival, "leaders": leaders, "others": others}
    about |= {"over": comparison["corrected_over"]}
    if len(leaders) == 1:
        return [("answer_winner", about), ("answer_winner_sure", about)]
    first = "answer_leaders" if others else "answer_none"
    quickest = _quickest([system for system in systems if system.name in leaders])
    return [(first, about), quickest, _detectable(leaders, pairs)]


def _leaders(ranked: Sequence[str], pairs: Pairs) -> list[str]:
    """Return the best system and those that may be as good."""

    def beats(one: str, other: str) -> bool:
        return one != other and better_of(pairs[frozenset((one, other))]) == one

    near = [name for name in ranked if not beats(ranked[0], name)]
    # A system near the best one may still be clearly behind another one near it.
    return [ranked[0], *(n for n in near[1:] if not any(beats(other, n) for other in near))]


def _lead(best: str, pair: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pair's difference, seen from the best system."""
    difference, low, high = pair["difference"], pair["low"], pair["high"]
    if pair["a"] != best:
        negated = (None if value is None else -value for value in (difference, high, low))
        difference, low, high = negated
    lead = {"difference": difference, "low": low, "high": high}
    return {**lead, "p": p_value(pair["p_holm"]), "n": pair["n"]}


def _detectable(leaders: Sequence[str], pairs: Pairs) -> Sentence:
    """Return the smallest detectable difference between the leaders, which depends on the pair."""
    among = (pairs[frozenset(pair)]["smallest_difference"] for pair in combinations(leaders, 2))
    # Systems with identical values say nothing about this.
    sizes = sorted(filter(None, among))
    if not sizes:
        return "answer_no_smallest", {}
    if round(sizes[0], 3) == round(sizes[-1], 3):
        return "answer_smallest", {"smallest": sizes[0]}
    return "answer_smallest_range", {"smallest": sizes[0], "largest": sizes[-1]}


def _quickest(systems: Sequence[System]) -> Sentence:
    """Name the quickest of several systems, if all of them were timed."""
    timed = [(system.cost["p50_ms"], system.name) for system in systems if "p50_ms" in system.cost]
    if len(timed) < 2 or len(timed) < len(systems):
        return "answer_more_questions", {}
    milliseconds, name = min(timed)
    return "answer_quickest", {"quickest": name, "ms": unit(milliseconds, "milliseconds")}
