"""What these questions can show, and how many it takes to show more."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from bears.evaluation.bootstrap import scale_of
from bears.evaluation.clusters import Clusters, Floats, standard_error, usable
from bears.evaluation.comparison.paired import ALPHA
from bears.evaluation.comparison.power import POWER, questions_for, smallest_difference
from bears.evaluation.comparison.result import plain
from bears.evaluation.comparison.table import number
from bears.evaluation.comparison.values import Measured, aligned, clusters_in, shared_measures
from bears.files.benchmark_state import heading

SHARES = (0.01, 0.02, 0.05, 0.1)
"""The planned differences, as shares of the best value."""


def planned(systems: Sequence[Measured], chosen: Sequence[str] = ()) -> dict[str, Any]:
    """Return the differences that a number of questions shows with 80 % power at p = 0.05.

    Args:
        systems: of one benchmark. The spread of the differences is pooled over their pairs; for a
            single system it is estimated as if another's values were independent of its own, which
            is too wide.
        chosen: the measures; empty for all that they share.

    Raises:
        FormatError: as `bears.evaluation.comparison.result.compare` does.
    """
    systems = aligned(systems)
    rows = []
    for measure in shared_measures(systems, chosen):
        values = np.column_stack([s.values[measure].to_numpy(float) for s in systems])
        kinds = next((each.kinds for each in systems if not each.kinds.empty), systems[0].kinds)
        spread, n = _spread(values, clusters_in(kinds))
        scale = scale_of(values)
        rows.append(
            {
                "measure": measure,
                "n": n,
                "spread": plain(spread),
                "shows": plain(smallest_difference(spread, n, ALPHA, scale)),
                "questions": {
                    f"{share * scale:g}": questions_for(share * scale, spread, ALPHA)
                    for share in SHARES
                },
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


def parts_of(plan: Mapping[str, Any]) -> tuple[str, pd.DataFrame, str]:
    """Return a heading, a table with a row for each measure, and a remark."""
    rows = [
        {
            "measure": row["measure"],
            f"{row['n']} questions show": number(row["shows"]),
            **{
                f"to show {share:.0%} takes": number(count)
                for share, count in zip(SHARES, row["questions"].values(), strict=True)
            },
        }
        for row in plan["measures"]
    ]
    guess = "" if plan["spread_of"] == "pairs" else " The spread is estimated from one system."
    records = {"name": plan["benchmark"] or "values from elsewhere", "questions": plan["questions"]}
    return (
        heading(records, ", ".join(plan["systems"])),
        pd.DataFrame(rows),
        f"With a power of {POWER:.0%}, at p = {ALPHA}, for one pair and one measure.{guess}",
    )


def _spread(values: Floats, clusters: Clusters | None) -> tuple[float, int]:
    """Return the standard deviation of the differences, and the number of questions.

    With clusters it is that of as many independent questions with the same standard error.
    """
    defined = ~np.isnan(values).any(axis=1)
    known = values[defined]
    if len(known) < 2:
        return 0.0, len(known)
    pairs = list(combinations(known.T, 2))
    differences = np.column_stack([a - b for a, b in pairs] or [np.sqrt(2) * known])
    of = usable(None if clusters is None else clusters[defined])
    if of is None:
        variances = differences.var(axis=0, ddof=1)
    else:
        variances = standard_error(differences, of)[0] ** 2 * len(known)
    return float(np.sqrt(np.mean(variances))), len(known)
