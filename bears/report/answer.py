"""The answer first: which system to take, by how much it is ahead, and how sure that is."""

from collections.abc import Mapping, Sequence
from typing import Any

from bears.report.comparison import Comparison, Pair, Standing, better_of
from bears.report.system import System
from bears.report.words import p_value, unit

Said = tuple[str, dict[str, Any]]
"""A sentence of words.json by its key, and what stands in it."""


def answer(
    comparison: Comparison, systems: Sequence[System], measure: str, questions: int
) -> list[Said]:
    """Two sentences for the person who decides."""
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
        said = _of(ranked[0], standing, measure) | {"b": ranked[1], "n": questions}
        return [("answer_untested", said), ("answer_untested_sure", {})]
    return _tested(ranked, standing, pairs, systems, measure, questions, comparison)


def _of(name: str, standing: Mapping[str, Standing], measure: str) -> dict[str, Any]:
    found = standing[name]
    return {"a": name, "measure": measure, **{key: found[key] for key in ("mean", "low", "high")}}


def _tested(
    ranked: Sequence[str],
    standing: Mapping[str, Standing],
    pairs: Mapping[frozenset[str], Pair],
    systems: Sequence[System],
    measure: str,
    questions: int,
    comparison: Comparison,
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
    # A system that gives the very same values says nothing of what could have been seen.
    telling = (name for name in rivals if against[name]["smallest_difference"] is not None)
    pair = against[next(telling, rivals[0])]
    said = _of(best, standing, measure) | _lead(best, pair)
    said |= {"b": pair["b"] if pair["a"] == best else pair["a"], "n": questions}
    said |= {"leaders": leaders, "others": [name for name in ranked if name not in leaders]}
    said |= {"over": comparison.get("corrected_over", ""), "count": len(ranked)}
    quickest = _quickest([system for system in systems if system.name in leaders])
    if len(leaders) == 1:
        return [("answer_winner", said), ("answer_winner_sure", said)]
    first = "answer_none" if len(leaders) == len(ranked) else "answer_leaders"
    if pair["smallest_difference"] is None:
        return [(first, said), ("answer_no_smallest", {})]
    if quickest:
        return [(first, said), ("answer_quickest", said | quickest)]
    return [(first, said), ("answer_more_questions", said)]


def _beats(best: str, pair: Pair | None) -> bool:
    return pair is not None and better_of(pair) == best


def _lead(best: str, pair: Pair) -> dict[str, Any]:
    """The difference as it is seen from the best."""
    difference, low, high = pair["difference"], pair["low"], pair["high"]
    if pair["a"] != best:
        negated = (None if value is None else -value for value in (difference, high, low))
        difference, low, high = negated
    found = {"difference": difference, "low": low, "high": high, "p": p_value(pair["p_holm"])}
    return found | {"smallest": pair["smallest_difference"]}


def _quickest(systems: Sequence[System]) -> dict[str, Any] | None:
    """The quickest of several systems, if all of them were timed."""
    timed = [(system.cost["p50_ms"], system.name) for system in systems if "p50_ms" in system.cost]
    if len(timed) < 2 or len(timed) < len(systems):
        return None
    milliseconds, name = min(timed)
    return {"quickest": name, "ms": unit(milliseconds, "milliseconds")}
