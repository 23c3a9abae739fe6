"""Compare systems, and advise which one to take and what to know before following the advice."""

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from bears.errors import FormatError
from bears.evaluation.comparison.paired import unseen
from bears.evaluation.comparison.pairs import ROUNDING, seen_as_gain
from bears.evaluation.comparison.values import WEIGHT, clusters_in
from bears.evaluation.evaluate import own_measure
from bears.evaluation.means import mean_interval
from bears.evaluation.trace_measures import sign_of
from bears.layout import CONF
from bears.publishing.report.words import dollars, signed, unit
from bears.results.costs import Costs
from bears.results.origins import OF_ANSWERS
from bears.results.parts import ComparedTable
from bears.results.revision import WORKSPACE, Revision
from bears.results.system import System

Comparison = dict[str, Any]
"""What `compare` returns, see docs/comparison.md."""


def compared(part: ComparedTable) -> Comparison:
    """Compare the systems that have the main measure, in the order of their means."""
    measure = part.main
    having = [each for each in part.systems if measure in each.values and each.defined(measure)]
    if not having:
        return {"systems": [], "pairs": [], "corrected_over": ""}
    comparison = replace(part, systems=having).compared()

    def place(system: Mapping[str, Any]) -> tuple[Any, ...]:
        return -system["measures"][measure]["mean"] * sign_of(measure), system["name"]

    return comparison | {"systems": sorted(comparison["systems"], key=place)}


def mean_of(system: System, measure: str, chosen: Any = slice(None)) -> dict[str, float] | None:
    """Return the mean of the chosen questions and its interval; None without a value."""
    if measure not in system.values:
        return None
    values = system.values[measure][chosen].to_numpy(float)
    kinds = system.kinds[chosen] if len(system.kinds) else system.kinds
    if WEIGHT in kinds:
        values = values.repeat(kinds[WEIGHT].to_numpy(int))
    defined = [float(value) for value in values if not math.isnan(value)]
    if not defined:
        return None
    clusters = clusters_in(kinds) if len(kinds) else None
    low, high = mean_interval(values, measure, clusters)
    return {"mean": math.fsum(defined) / len(defined), "low": low, "high": high}


def better_of(pair: Mapping[str, Any]) -> str | None:
    """Return the better system of a pair; None if the test does not say."""
    named = {f"{pair[side]} better": str(pair[side]) for side in ("a", "b")}
    return named.get(pair["verdict"])


Prefer = Literal["quality", "speed", "cost"]
Sentence = tuple[str, dict[str, Any]]
"""The key of a sentence in words.json, and the values that it needs."""
Pairs = Mapping[frozenset[str], Mapping[str, Any]]
FACTOR, MILLISECONDS = 2.0, 1.0
"""A time is a reason only if it differs by more than both."""


def advise(
    comparison: Mapping[str, Any], systems: Sequence[System], measure: str, prefer: Prefer
) -> dict[str, Any]:
    """Return which system to take, as plain values.

    Args:
        comparison: what `bears.evaluation.comparison.result.compare` returns.
        systems: the same systems, with their costs.
        measure: the one that decides.
        prefer: what chooses among systems that do not differ significantly.

    Returns:
        ``take``, the recommended system; ``tie``, the systems that may be as good, it included;
        ``by``, what chose among them; ``over``, the best other system of the tie, or else of all;
        ``difference``, ``low`` and ``high`` of ``take`` and ``over``, on ``n`` questions;
        ``within``, the largest difference from ``take`` that the intervals of the tie allow;
        ``risk``, the most that another system may be better, and ``rival``, which one; ``more``,
        how many more questions show ``difference`` with 80 % power, None if that is not known.
        ``same``: whether all systems of the tie have the same values, of which a share of
        ``unseen`` could still differ; ``highest``: whether the mean of ``take`` is above theirs.
        Empty if no system has the measure; ``take`` alone if only one has.
    """
    means = {
        system["name"]: found["mean"] * sign_of(measure)
        for system in comparison["systems"]
        if (found := system["measures"].get(measure)) and found["mean"] is not None
    }
    ranked = sorted(means, key=lambda name: (-means[name], name))
    if len(ranked) < 2:
        return {"take": ranked[0]} if ranked else {}
    pairs: Pairs = {
        frozenset((pair["a"], pair["b"])): pair
        for pair in comparison["pairs"]
        if pair["measure"] == measure
    }
    for a, b in combinations(tuple(ranked), 2):
        # The means are a judge's, and people may have said the opposite.
        pair = pairs[frozenset((a, b))]
        if "labels" in pair and seen_from(a, pair)["difference"] < 0:
            ranked.remove(b)
            ranked.insert(ranked.index(a), b)
    tie = _tie(ranked, pairs)
    costs = {system.name: system.costs for system in systems if system.name in tie}
    take = _preferred(tie, costs, prefer)
    over = next(name for name in (*tie, *ranked) if name != take)
    # Seen from the recommended system.
    leads = {
        other: seen_from(take, pairs[frozenset((take, other))]) for other in ranked if other != take
    }
    bounds = {other: -lead["low"] for other, lead in leads.items() if lead["low"] is not None}
    rival = max(bounds, key=bounds.__getitem__, default=over)
    near = [leads[name][end] for name in tie if name != take for end in ("low", "high")]
    needed = pairs[frozenset((take, over))]["questions_needed"]
    others = [leads[name] for name in tie if name != take]
    return {
        # Means that differ by rounding alone are the same.
        "highest": all(lead["difference"] > ROUNDING for lead in others),
        "same": bool(others)
        and all(lead["low"] is None and not lead["difference"] for lead in others),
        "unseen": unseen(leads[over]["n"]),
        **{"take": take, "tie": tie, "by": prefer if take != tie[0] else "quality", "over": over},
        **leads[over],
        "within": max((abs(end) for end in near if end is not None), default=None),
        "risk": max(bounds.get(rival, 0.0), 0.0),
        "rival": rival,
        "labels": pairs[frozenset((take, over))].get("labels"),
        "after_100": pairs[frozenset((take, over))].get("after_100"),
        "all": _all([means[name] for name in tie], measure),
        **_remedies(systems, tie, measure),
        "more": None if needed is None else max(round(needed) - leads[over]["n"], 0),
    }


def _all(means: Sequence[float], measure: str) -> str:
    """Return whether questions are too ``easy`` or too ``hard`` for systems with these means."""
    known = own_measure(measure)
    best = known.metric.best if known else 1
    ends = {"easy": best, "hard": 0}
    return next((word for word, end in ends.items() if {*means} == {end}), "")


def _remedies(systems: Sequence[System], tie: Sequence[str], measure: str) -> dict[str, str]:
    """Return ``where`` questions are added, and the command that lets people ``judge``.

    Both are empty if the systems are not of a benchmark.
    """
    chosen = [system for system in systems if system.name in tie]
    name = str(chosen[0].benchmark.get("name", ""))
    if not name:
        return {"where": "", "judge": ""}
    config = next((each.revision.config for each in systems if each.revision), {})
    paths = [
        Path(path) for each in config.get("sources", {}).values() if (path := each.get("path"))
    ]
    where = str(CONF / "benchmark" / f"{name}.yaml")
    # A recipe says itself how many questions it takes of a source.
    if len(paths) == 1 and "sources" not in config.get("sample", {}):
        where = str(paths[0] / "questions.csv" if paths[0].is_dir() else paths[0])
    words = ["judgements", "pool", "to_judge.csv"]
    if re.fullmatch(OF_ANSWERS, measure) and all(system.files for system in chosen):
        words = ["labels", "next", *(each.name for each in chosen[:2])]
    return {"where": where, "judge": command(words, chosen)}


def command(words: Sequence[str], systems: Sequence[System]) -> str:
    """Return a command about systems, as people can type it here."""
    name = str(systems[0].benchmark.get("name", "")) if systems else ""
    with suppress(FormatError):
        if name == Revision(WORKSPACE).selection.get("benchmark"):
            name = ""
    return shlex.join(["bears", *words, *(["--benchmark", name] if name else [])])


def _tie(ranked: Sequence[str], pairs: Pairs) -> list[str]:
    """Return the best system and those that may be as good."""

    def beats(one: str, other: str) -> bool:
        return one != other and better_of(pairs[frozenset((one, other))]) == one

    near = [name for name in ranked if not beats(ranked[0], name)]
    # A system near the best one may still be clearly behind another one near it.
    return [ranked[0], *(n for n in near[1:] if not any(beats(other, n) for other in near))]


def seen_from(name: str, pair: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pair's ``difference``, ``low``, ``high`` and ``n``, seen from system ``name``."""
    sign, ends = (1, ("low", "high")) if pair["a"] == name else (-1, ("high", "low"))
    gain = seen_as_gain(pair)
    values = [gain[key] for key in ("difference", *ends)]
    seen = [None if value is None else sign * value for value in values]
    return dict(zip(("difference", "low", "high"), seen, strict=True), n=pair["n"])


def _preferred(tie: Sequence[str], costs: Mapping[str, Costs], prefer: Prefer) -> str:
    """Return the member of a tie that is preferred; the first has the highest mean."""
    known: dict[str, float] = {}
    for name in tie:
        cost = costs.get(name, Costs())
        if prefer == "speed" and cost.p50_ms is not None:
            known[name] = cost.p50_ms
        elif prefer == "cost" and cost.usd is not None:
            known[name] = cost.usd[1]
    if len(known) < len(tie):
        return tie[0]
    least = min(tie, key=known.__getitem__)
    one, other = known[least], known[tie[0]]
    gain = other - one
    if prefer == "speed" and not (other > FACTOR * one and gain > MILLISECONDS):
        return tie[0]
    return least if gain > 0 else tie[0]


def headline(advice: Mapping[str, Any], measure: str, prefer: Prefer) -> list[Sentence]:
    """Return the sentence that says which system to take, and how a tie was decided."""
    about = {**advice, "measure": measure}
    if not advice:
        return [("advice_nothing", about)]
    if "tie" not in advice:
        return [("advice_only", about)]
    tie = advice["tie"]
    if len(tie) == 1:
        return [("advice_take", about | {"difference": signed(advice["difference"])})]
    about |= {"a": tie[0], "b": tie[1], "unseen": f"{100 * advice['unseen']:.0f}"}
    first = "advice_either" if len(tie) == 2 else "advice_any"
    said = [("advice_same" if advice["same"] else first, about)]
    if prefer != "quality":
        decided = "by" if advice["by"] == prefer else "not"
        said.append((f"advice_{decided}_{prefer}", about))
    if advice["by"] == "quality":
        said.append(("advice_by_quality" if advice["highest"] else "advice_by_name", about))
    return said


def rows(
    advice: Mapping[str, Any], systems: Sequence[System], measure: str
) -> list[tuple[str, Sentence]]:
    """Return what is risked, what would settle it, and what it costs: labels and sentences."""
    if "tie" not in advice:
        return []
    about = {**advice, "measure": measure, "size": abs(advice["difference"])}
    risk = "advice_risk_some" if advice["risk"] > 0 else "advice_risk_none"
    settled = len(advice["tie"]) == 1
    more = "advice_more_none" if settled else "advice_more_some"
    if advice["labels"] and not settled:
        more = "advice_more_labels" if advice["after_100"] else "advice_more_labeled"
        about["after"] = f"{100 * advice['after_100']:.0f}"
    elif not settled and advice["more"] is None:
        more = f"advice_more_{advice['all'] or 'few'}" if advice["where"] else "advice_more_unknown"
    shown = dict.fromkeys([advice["take"], *advice["tie"], advice["over"]])
    costs = {system.name: system.costs for system in systems}
    found = [
        f"{name}: {', '.join(known)}"
        for name in shown
        if (known := _costs(costs.get(name, Costs())))
    ]
    cost = ("advice_cost_some" if found else "advice_cost_none", about | {"costs": found})
    return [("advice_risk", (risk, about)), ("advice_more", (more, about)), ("advice_cost", cost)]


def _costs(costs: Costs) -> list[str]:
    found = []
    if costs.p50_ms is not None:
        found.append(unit(costs.p50_ms, "milliseconds"))
    if costs.usd:
        found.append(f"US$ {dollars(*costs.usd)}")
    if costs.index_bytes is not None:
        found.append(unit(costs.index_bytes, "bytes"))
    return found
