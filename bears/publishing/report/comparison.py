"""Compare the systems of a report."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bears.evaluation.comparison.result import compare
from bears.evaluation.comparison.values import clusters_in
from bears.evaluation.means import mean_interval
from bears.evaluation.trace_measures import sign_of
from bears.results.system import System

Comparison = dict[str, Any]
"""What `compare` returns, see docs/comparison.md."""


def compared(systems: Sequence[System], measure: str) -> Comparison:
    """Compare the systems that have a measure, and list the others after them.

    Systems are ordered by their means.
    """
    tested = [system for system in systems if measure in system.values]
    comparison: Comparison = {"systems": [], "pairs": [], "corrected_over": ""}
    if len(tested) > 1:
        comparison = compare(tested, (), measure)
    names = {system["name"] for system in comparison["systems"]}
    untested = [_untested(system) for system in systems if system.name not in names]

    def place(system: Mapping[str, Any]) -> tuple[Any, ...]:
        found = system["measures"].get(measure, {})
        mean = (found.get("mean") or 0.0) * sign_of(measure)
        return not found.get("group"), -mean, system["name"]

    return comparison | {"systems": sorted([*comparison["systems"], *untested], key=place)}


def _untested(system: System) -> dict[str, Any]:
    measures = {}
    for name in map(str, system.values):
        defined = system.defined(name)
        # The interval is that of a share. All measures of the pipeline are shares.
        if defined and min(defined) >= 0 and max(defined) <= 1:
            values = system.values[name].to_numpy(float)
            low, high = mean_interval(values, clusters=clusters_in(system.kinds))
            mean = math.fsum(defined) / len(defined)
            measures[name] = {"mean": mean, "low": low, "high": high}
    return {"name": system.name, "measures": measures}


def better_of(pair: Mapping[str, Any]) -> str | None:
    """Return the better system of a pair; None if the test does not say."""
    named = {f"{pair[side]} better": str(pair[side]) for side in ("a", "b")}
    return named.get(pair["verdict"])
