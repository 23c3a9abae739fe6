"""Compare systems, and advise which one to take and what to know before following the advice."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from bears.config import read_ledger
from bears.config.ledger.entries import LabelDraw, Ledger
from bears.config.typed import parse
from bears.evaluation.comparison.paired import unseen
from bears.evaluation.comparison.pairs import ROUNDING, seen_as_gain
from bears.evaluation.comparison.result import compare
from bears.evaluation.comparison.values import clusters_in
from bears.evaluation.means import mean_interval
from bears.evaluation.timing import BUSY
from bears.evaluation.trace_measures import sign_of
from bears.layout import ledger_of
from bears.publishing.report.words import dollars, signed, unit
from bears.results.costs import Costs
from bears.results.parts import Part
from bears.results.system import Doubts, System

Comparison = dict[str, Any]
"""What `compare` returns, see docs/comparison.md."""


def compared(part: Part) -> Comparison:
    """Compare the systems that have the main measure, and list the others after them.

    Systems are ordered by their means.
    """
    measure = part.main
    tested = [system for system in part.systems if measure in system.values]
    comparison: Comparison = {"systems": [], "pairs": [], "corrected_over": ""}
    if len(tested) > 1:
        comparison = compare(tested, part.measures, measure)
    names = {system["name"] for system in comparison["systems"]}
    untested = [_untested(system) for system in part.systems if system.name not in names]

    def place(system: Mapping[str, Any]) -> tuple[Any, ...]:
        found = system["measures"].get(measure, {})
        mean = (found.get("mean") or 0.0) * sign_of(measure)
        return not found.get("group"), -mean, system["name"]

    return comparison | {"systems": sorted([*comparison["systems"], *untested], key=place)}


def _untested(system: System) -> dict[str, Any]:
    measures, of = {}, clusters_in(system.kinds)
    for name in map(str, system.values):
        defined = system.defined(name)
        # The page shows measures from 0 to 1.
        if defined and min(defined) >= 0 and max(defined) <= 1:
            values = system.values[name].to_numpy(float)
            low, high = mean_interval(values, name, of)
            mean = math.fsum(defined) / len(defined)
            measures[name] = {"mean": mean, "low": low, "high": high}
    return {"name": system.name, "measures": measures}


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
        "more": None if needed is None else max(round(needed) - leads[over]["n"], 0),
    }


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
    if not settled and advice["more"] is None:
        more = "advice_more_unknown"
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


def doubts(systems: Sequence[System], measure: str) -> list[Sentence]:
    """Return what may void the numbers, a sentence each."""
    found: list[Sentence] = []
    for system in systems:
        about = {"system": system.name, "measure": measure}
        for cut in system.doubts.unread:
            share = f"{100 * cut.share:.0f}"
            found.append(("doubt_unread", {**about, **asdict(cut), "share": share}))
        if system.costs.others is not None and system.costs.others > BUSY:
            found.append(("advice_busy", about))
        if system.doubts.unmatched:
            found.append(("doubt_unmatched", {**about, "n": system.doubts.unmatched}))
    # These are of the benchmark, which is the same for all.
    shared = next((each.doubts for each in systems if each.doubts != Doubts()), Doubts())
    if lacking := shared.undefined.get(measure):
        found.append(("doubt_undefined", {"n": lacking, "measure": measure}))
    if (ceiling := shared.ceiling.get(measure)) is not None:
        found.append(("doubt_ceiling", {"measure": measure, "ceiling": ceiling}))
    if shared.lost:
        found.append(("doubt_lost", {"n": shared.lost}))
    return found


def label_notes(systems: Sequence[System]) -> list[Sentence]:
    """Return what the numbers of a judge are worth, for systems that one judged."""
    from bears.answers.judging.pairs import Pair

    judged = {
        each.name: each.judged for each in systems if each.judged and "pass_rate" in each.values
    }
    path = ledger_of(str(systems[0].benchmark.get("name", ""))) if systems else Path()
    graded = [each for each in systems if each.judged]
    labels = parse(Ledger, read_ledger(path), str(path)).labels if graded else ()
    judges = sorted({str(s.revision.selection.get("judge")) for s in systems if s.revision})
    notes: list[Sentence] = []
    for a, b in combinations(judged, 2):
        pair = Pair(judged[a], judged[b])
        about = {"a": a, "b": b, "judge": judges, "of": len(pair.questions)}
        found, worth = pair.corrected(labels)
        if found is None:
            notes.append(("labels_none", about))
            continue
        # One hundred more, of a finite set.
        rest = max(len(pair.questions) - found.n, 1)
        more = min(100, rest)
        narrower = math.sqrt(found.n / (found.n + more) * (rest - more) / rest)
        about |= {"worth": f"{100 * (worth or 1):.0f}", "difference": signed(found.value)}
        about |= {"low": signed(found.low), "high": signed(found.high), "more": more, "n": found.n}
        notes.append(("labels_some", {**about, "half": (found.high - found.low) / 2 * narrower}))
    known = [note for note in notes if note[0] == "labels_some"]
    notes = [*(known or notes[:1]), *_item_notes(graded, labels)]
    for system in graded:
        config = system.revision.config if system.revision else {}
        families = {group: _families(config.get(group)) for group in MODELS}
        if both := families.pop("judge") & set[str]().union(*families.values()):
            about = {"system": system.name, "judge": _judge(system), "family": min(both)}
            notes.append(("circular", about))
    return notes


ITEMS: Mapping[Any, str] = {
    "documents": "graded_precision@10",
    "nuggets": "nugget_all",
    "citations": "citation_recall",
}
"""What people label, to the measure that they correct."""


def _item_notes(systems: Sequence[System], labels: Sequence[LabelDraw]) -> Iterator[Sentence]:
    """Yield what each system's measures of graded items are, and how people correct them."""
    from bears.answers.judging import labelable

    for system in systems:
        for what, measure in ITEMS.items():
            if measure not in system.values:
                continue
            linear = measure.removeprefix("graded_")
            if what == "documents":
                about = labelable.LinearMeasure(linear), labelable.grades_in(system.judged)
                asked = dict.fromkeys(map(str, system.values.index), "")
                pair = labelable.document_pair(system.rankings, {}, *about, asked, Path())
            else:
                pair = labelable.answer_pair(what, linear, system.judged, {})
            draws = pair.draws(labels)
            shown = {"system": system.name, "measure": measure, "of": len(pair.names)}
            shown |= {"judge": _judge(system), "what": what}
            found = pair.estimates(draws).get("these")
            if found:
                half = (found["high"] - found["low"]) / 2 * found["after_100"]
                shown |= {"n": len([draw for draw in draws if draw.labels]), "half": half, **found}
            yield ("items_some" if found else "items_none"), shown


def _judge(system: System) -> str:
    return str(system.revision.selection.get("judge")) if system.revision else "?"


MODELS = ("judge", "generator", "rewriter", "retriever")
"""The groups of the configuration whose models may be of one family."""


def _families(part: Any) -> set[str]:
    """Return the first letters of the names of all models in a part of a configuration."""
    if not isinstance(part, Mapping):
        return set()
    own = re.match(r"[a-z]+", str(part.get("model") or "").rpartition("/")[2].lower())
    return {own[0]} if own else set().union(*map(_families, part.values()))
