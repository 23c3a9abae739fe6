"""How often two people, or a person and a judge, decide the same."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul


@dataclass(frozen=True, slots=True)
class Rate:
    """A share or a kappa with its 95 % interval, whose ends are NaN if it is undefined."""

    value: float
    low: float
    high: float


def agreement(pairs: Sequence[tuple[object, object]], what: str) -> str:
    """Return how many of people's decisions agree, with Cohen's kappa; empty without any.

    Args:
        pairs: two decisions on the same thing.
        what: these are, with their verb.
    """
    kappa = kappa_of(pairs)
    shown = f", Cohen's kappa {kappa.value:.2f}" if kappa else ""
    same = sum(one == other for one, other in pairs)
    return f"{len(pairs)} {what}: {same} of them the same{shown}\n" if pairs else ""


def kappa_of(pairs: Sequence[tuple[object, object]]) -> Rate | None:
    """Return Cohen's kappa of pairs; None if chance alone explains full agreement.

    It is 0, without an interval, if one side says the same of everything.
    """
    from statsmodels.stats.inter_rater import cohens_kappa

    counts = Counter(pairs)
    used = list(dict.fromkeys(each for pair in counts for each in pair))
    table = [[counts[one, other] for other in used] for one in used]
    rows, columns = ([sum(counts) for counts in way] for way in (table, zip(*table, strict=True)))
    if sum(map(mul, rows, columns)) == sum(rows) ** 2:
        return None
    if 1 in (sum(map(bool, rows)), sum(map(bool, columns))):
        return Rate(0.0, math.nan, math.nan)
    found = cohens_kappa(table)
    return Rate(float(found.kappa), float(found.kappa_low), float(found.kappa_upp))
