"""The systems side by side: what table, charts and verdicts are made of."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from bears.publishing.report.answer import answer
from bears.publishing.report.charts import against, curve, intervals
from bears.publishing.report.comparison import (
    Comparison,
    Pair,
    Ranked,
    better_of,
    corrected_over,
    ranked,
)
from bears.publishing.report.recall import DEPTHS, recall_curve
from bears.publishing.report.words import said
from bears.results.system import System
from bears.types import Question

SHOWN = ("success@1", "success@10", "strict@10", "recall@10", "mrr", "map", "pass_rate")
"""Measures that are shown beside the one that decides."""
FAMILIES = ("success", "strict", "recall", "mrr", "ndcg", "map")
Looks = Mapping[str, Mapping[str, str]]


def standings(comparison: Comparison, measure: str, systems: Sequence[System]) -> dict[str, Any]:
    """The verdict, the table of systems and that of pairs."""
    order = ranked(comparison, measure)
    pairs = [pair for pair in comparison["pairs"] if pair["measure"] == measure]
    there = {name for system in order for name in system["measures"]}
    known = {name.partition("@")[0] for name in there}
    return {
        "ranked": order,
        "measures": [measure, *(name for name in SHOWN if name in there and name != measure)],
        "explained": [f"measure_{family}" for family in FAMILIES if family in known],
        "pairs": pairs,
        "tested": bool(pairs),
        "over": corrected_over(comparison, measure),
        "ties": sorted({text for pair in pairs if (text := pair.get("ties"))}),
        "answer": answer(comparison, systems, measure),
    }


def verdict(pair: Pair) -> Markup:
    """What is said of a pair."""
    if better := better_of(pair):
        return said("verdict_better", a=better)
    if pair["verdict"].startswith("equal to within "):
        return said("verdict_equal", d=pair["verdict"].rpartition(" ")[2])
    return said("verdict_apart")


def drawn(
    order: Sequence[Ranked],
    measure: str,
    looks: Looks,
    systems: Sequence[System],
    questions: Sequence[Question],
) -> dict[str, Any]:
    """The charts of all questions, and the numbers behind them."""
    rows = [
        {"name": system["name"], **found, **looks[system["name"]]}
        for system in order
        if (found := system["measures"].get(measure)) and found["low"] is not None
    ]
    costs = {system.name: system.cost for system in systems}
    known = [(row, costs.get(str(row["name"]), {})) for row in rows]
    timed = [{**row, "ms": cost["p50_ms"]} for row, cost in known if "p50_ms" in cost]
    paid = [
        {**row, "usd": (cost["usd_low"] + cost["usd_high"]) / 2}
        for row, cost in known
        if "usd_low" in cost
    ]
    return {
        "means": intervals(rows, 380) if rows else "",
        "timed": against(timed, "ms") if timed else "",
        "untimed": [name for name, cost in costs.items() if "p50_ms" not in cost],
        "paid": against(paid, "usd") if any(row["usd"] for row in paid) else "",
        **_recalls(looks, systems, questions),
    }


def _recalls(
    looks: Looks, systems: Sequence[System], questions: Sequence[Question]
) -> dict[str, Any]:
    recalls = {system.name: recall_curve(system.rankings, questions) for system in systems}
    points = [
        {"name": name, "k": k, "recall": mean, "low": low, "high": high, **looks[name]}
        for name, found in recalls.items()
        for k, mean, low, high in found
    ]
    return {
        "curves": [(name, curve(name, points)) for name, found in recalls.items() if found],
        "recalls": {name: {k: rest for k, *rest in found} for name, found in recalls.items()},
        "depths": [k for k in DEPTHS if any(row["k"] == k for row in points)],
    }
