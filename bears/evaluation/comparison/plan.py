"""Before one spends: what these questions can show, and how many it takes to show more."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from bears.evaluation.bootstrap import Floats, scale_of
from bears.evaluation.comparison.power import POWER, questions_for, smallest_difference
from bears.evaluation.comparison.result import ALPHA, plain
from bears.evaluation.comparison.table import Form, formed
from bears.evaluation.comparison.values import Measured, aligned, shared_measures
from bears.files.benchmark_state import heading

SHARES = (0.01, 0.02, 0.05, 0.1)
"""Differences that are asked about, as shares of the best value."""


def planned(systems: Sequence[Measured], chosen: Sequence[str] = ()) -> dict[str, Any]:
    """The differences that a number of questions shows with 80 % power at p = 0.05.

    Args:
        systems: of one benchmark. The spread of the difference is that between two of them, over
            all pairs; of a single one it is guessed, as if another system's values had nothing to
            do with its own, which is too wide.
        chosen: the measures; none: all that they share.

    Raises:
        FormatError: as `bears.evaluation.comparison.result.compare`.
    """
    systems = aligned(systems)
    rows = []
    for measure in shared_measures(systems, chosen):
        values = np.column_stack([s.values[measure].to_numpy(float) for s in systems])
        spread, n = _spread(values)
        differences = [share * scale_of(values) for share in SHARES]
        rows.append(
            {
                "measure": measure,
                "n": n,
                "spread": plain(spread),
                "shows": plain(smallest_difference(spread, n, ALPHA, scale_of(values))),
                "questions": {f"{d:g}": questions_for(d, spread, ALPHA) for d in differences},
            }
        )
    return {
        "benchmark": str(systems[0].benchmark.get("name", "")),
        "questions": len(systems[0].values),
        "systems": [f"{each.name} ({each.what})" if each.what else each.name for each in systems],
        "alpha": ALPHA,
        "power": POWER,
        "spread_of": "pairs" if len(systems) > 1 else "one system",
        "measures": rows,
    }


def _spread(values: Floats) -> tuple[float, int]:
    """The standard deviation of the differences, pooled over pairs, and how many questions."""
    known = values[~np.isnan(values).any(axis=1)]
    if len(known) < 2:
        return 0.0, len(known)
    if known.shape[1] == 1:
        return float(np.sqrt(2) * known.std(ddof=1)), len(known)
    pairs = combinations(range(known.shape[1]), 2)
    variances = [(known[:, i] - known[:, j]).var(ddof=1) for i, j in pairs]
    return float(np.sqrt(np.mean(variances))), len(known)


def plan_text(plan: Mapping[str, Any], form: Form) -> str:
    """A row for each measure; a difference is a share of the best value, in any of its units."""
    rows = [
        {
            "measure": row["measure"],
            f"{row['n']} questions show": _number(row["shows"]),
            **{
                f"to show {share:.0%} takes": _number(count)
                for share, count in zip(SHARES, row["questions"].values(), strict=True)
            },
        }
        for row in plan["measures"]
    ]
    guess = "" if plan["spread_of"] == "pairs" else " The spread is guessed from one system."
    remark = f"With a power of {POWER:.0%}, at p = {ALPHA}, for one pair and one measure.{guess}"
    table = formed(pd.DataFrame(rows), form)
    if form == "csv":
        return table
    records = {"name": plan["benchmark"] or "values from elsewhere", "questions": plan["questions"]}
    about = heading(records, ", ".join(plan["systems"]))
    return "\n\n".join((formed(about, form), table, formed(remark, form))) + "\n"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.4f}"
