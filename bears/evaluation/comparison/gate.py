"""Whether a candidate is worse than a base, by one-sided tests; the result is plain values."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bears.errors import FormatError
from bears.evaluation.clusters import described
from bears.evaluation.comparison import result
from bears.evaluation.comparison.paired import ALPHA, questions_for, smallest_loss
from bears.evaluation.comparison.pairs import seen_as_gain
from bears.evaluation.comparison.values import Measured, clusters_in, kinds_of, shared_measures
from bears.evaluation.trace_measures import sign_of

WORSE, CANNOT_TELL = "worse", "cannot tell"
NO_LOSS, ALLOWED, UNCHANGED = "no significant loss", "allowed", "unchanged"


def judged(
    systems: Sequence[Measured], measures: Sequence[str], allow: float | None = None
) -> result.Result:
    """Test whether a candidate is worse than a base under any measure.

    A loss is significant if the one-sided p is at most `ALPHA`, corrected over the measures. If a
    loss that is seen is smaller than one that these questions could show, the verdict is
    `CANNOT_TELL`; if they are too few for any p of at most `ALPHA`, it is undecided. A candidate
    with the base's values under every measure is unchanged, however few the questions.

    Args:
        systems: candidate and base, with the same questions in the same order.
        measures: the ones to test; both systems have them.
        allow: the loss that is allowed: a measure passes if the 90 % interval of its difference
            lies above -``allow``, even if the loss is significant; if that does not hold and the
            loss is not significant, it is undecided.

    Returns:
        The fields that docs/ci.md describes.

    Raises:
        FormatError: fewer than two questions have a value of a measure by both.
    """
    clusters = clusters_in(kinds_of(systems))
    values = {m: np.column_stack([s.values[m].to_numpy(float) for s in systems]) for m in measures}
    names = [system.name for system in systems]
    shared = shared_measures(systems, ())
    same = systems[0].values[shared].equals(systems[1].values[shared])
    rows = result.as_records(result.pairs_tested([values], names, None, [clusters], one_sided=True))
    for row in rows:
        if row["n"] < 2:
            raise FormatError(f"{row['n']} questions have {row['measure']} by both; it takes two")
        gain = seen_as_gain(row)
        differences = values[row["measure"]] @ [1, -1] / row["scale"] * sign_of(row["measure"])
        known = ~np.isnan(differences)
        of = None if clusters is None else clusters[known]
        shown = smallest_loss(differences[known], of, ALPHA / len(measures)) * row["scale"]
        row["smallest_difference"] = result.plain(shown)
        row["questions_needed"] = None
        if same:
            row["verdict"] = UNCHANGED
        elif allow is None:
            row["verdict"] = _verdict(gain, shown)
        else:
            row |= _allowed(gain, allow)
    change = result.moved(systems, measures[0])
    return {
        "questions": len(systems[0].values),
        **({"clusters": found} if (found := described(clusters)) else {}),
        "warnings": result.unlike(systems, values),
        "pairs": rows,
        "lost": change["b_better"],
        "won": change["a_better"],
    }


def _verdict(row: Mapping[str, Any], shown: float) -> str:
    """Return the verdict on a measure, given the loss that could show; NaN without one."""
    if row["p_holm"] <= ALPHA:
        return WORSE
    if row["verdict"] == result.UNDECIDED:
        return result.UNDECIDED
    lost = -row["difference"]
    return CANNOT_TELL if lost > 0 and not shown <= lost else NO_LOSS


def _allowed(row: Mapping[str, Any], allow: float) -> result.Result:
    """Return the verdict, and how many questions it takes to allow the loss."""
    if row["low"] > -allow:
        return {"verdict": ALLOWED, "questions_needed": None}
    if row["p_holm"] <= ALPHA:
        return {"verdict": WORSE, "questions_needed": None}
    # A gain that is seen may be chance, and a loss that is seen leaves less to show.
    room = allow + min(row["difference"], 0.0)
    needed = None
    if room > 1e-12:
        # Where few questions differ, the bound is wider than one from the spread, and shrinks as
        # 1 / (n + 3) does.
        least = math.ceil((row["n"] + 3) * (row["difference"] - row["low"]) / room)
        needed = max(least, questions_for(room, row["spread"], 2 * ALPHA) or 0)
    return {"verdict": result.UNDECIDED, "questions_needed": needed}
