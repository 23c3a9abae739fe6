"""Check the statistics of `bears.evaluation.comparison` on simulated systems.

    python -m benchmarks.comparing [DRAWS]

Questions are equally hard for both systems: each question has a normal number that both share, and
each system adds its own; the sum's quantile gives the value. It prints the tables of
docs/statistics.md: how often equal systems are called different (5 % at most), how often the 95 %
interval holds the truth, how often any two equal systems of several are called different, and, for
ten kinds of differences, how wide the interval is and how often it contradicts p.
"""

import gc
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations, product

import numpy as np
from scipy import stats
from scipy.special import ndtr
from statsmodels.stats.multitest import multipletests
from tabulate import tabulate

from bears.evaluation.clusters import Floats, Z
from bears.evaluation.comparison.paired import exact_critical_value, mcnemar, score_interval
from bears.evaluation.comparison.pairs import of_means, of_shares
from bears.evaluation.means import RESAMPLES

GRADES = np.array([0.0, 0.3, 0.387, 0.5, 0.613, 0.693, 0.85, 0.92, 1.0])
SIZES = (60, 300, 3000)
INTERVALS = (12, 20, 60, 300)
YES_NO = {
    "yes or no, .70 and .70": (0.70, 0.70, 0.6),
    "yes or no, .70 and .60": (0.70, 0.60, 0.6),
    "yes or no, .95 and .95": (0.95, 0.95, 0.6),
    "yes or no, .95 and .90": (0.95, 0.90, 0.6),
    "yes or no, .95 and .95, nearly alike": (0.95, 0.95, 0.95),
}
GRADED = {
    "graded, equal": ((0.5, 0.2), (0.5, 0.2), 0.7),
    "graded, apart": ((0.5, 0.2), (0.35, 0.3), 0.7),
    "graded near 1, equal": ((0.9, 0.03), (0.9, 0.03), 0.6),
    "graded near 1, apart": ((0.9, 0.03), (0.85, 0.05), 0.6),
    "graded, nearly alike": ((0.9, 0.03), (0.9, 0.03), 0.95),
}
"""Shares of values that are 1 and 0 (the others are alike), of either system, and correlation."""


def shares_of(ends: tuple[float, float]) -> Floats:
    """Return the share of each of `GRADES`."""
    best, worst = ends
    middle = (1 - best - worst) / (len(GRADES) - 2)
    return np.array([worst, *[middle] * (len(GRADES) - 2), best])


def drawn(
    n: int, draws: int, shares: Sequence[Floats], correlation: float, rng: np.random.Generator
) -> list[Floats]:
    """Return the values of each system, each of shape (n, draws)."""
    common = np.sqrt(correlation) * rng.standard_normal((n, draws))
    own = np.sqrt(1 - correlation)
    places = [ndtr(common + own * rng.standard_normal((n, draws))) for _ in shares]
    grades = GRADES if len(shares[0]) > 2 else np.array([0.0, 1.0])
    return [
        grades[np.searchsorted(np.cumsum(share)[:-1], place)]
        for share, place in zip(shares, places, strict=True)
    ]


def generator(name: str, n: int) -> np.random.Generator:
    """Return a generator for one row and size, the same each time."""
    return np.random.default_rng([n, *name.encode()])


def judged(a: Floats, b: Floats, graded: bool) -> dict[str, Floats]:
    """Return p and the interval of each draw."""
    return of_means(a, b, RESAMPLES) if graded else of_shares(a, b)


def row(name: str, draws: int, shares: Sequence[Floats], correlation: float) -> list[str]:
    """Return, for each size, how often equal systems differ and the interval holds the truth."""
    graded = len(shares[0]) > 2
    grades = GRADES if graded else np.array([0.0, 1.0])
    truth = float(shares[0] @ grades - shares[1] @ grades)
    cells = [name]
    for n in SIZES:
        a, b = drawn(n, draws, shares, correlation, generator(name, n))
        found = judged(a, b, graded)
        held = (found["low"] - 1e-9 <= truth) & (truth <= found["high"] + 1e-9)
        called = f"{np.mean(found['p'] <= 0.05):.1%}" if truth == 0 else "–"
        cells += [called, f"{held.mean():.1%}"]
    return cells


def kinds() -> dict[str, Callable[[np.random.Generator, tuple[int, int]], Floats]]:
    """Return ten kinds of differences, each a function that draws some."""
    hair = {f"a hair, {lost:.0%} lost": partial(_hair, lost=lost) for lost in (0.02, 0.05, 0.10)}
    return {
        "nDCG, unrelated": lambda rng, shape: rng.choice(GRADES, shape) - rng.choice(GRADES, shape),
        "nDCG, one in ten differs": lambda rng, shape: np.where(
            rng.random(shape) < 0.1, rng.choice([-0.5, 0.307, 0.613], shape), 0.0
        ),
        "nDCG, one in 30 differs": lambda rng, shape: np.where(
            rng.random(shape) < 1 / 30, rng.choice([-0.5, 0.307, 0.613], shape), 0.0
        ),
        "skewed": lambda rng, shape: np.minimum(rng.exponential(0.1, shape), 1.0),
        "smooth": lambda rng, shape: np.clip(rng.normal(0.05, 0.2, shape), -1, 1),
        "one-sided": lambda rng, shape: np.where(rng.random(shape) < 0.15, rng.random(shape), 0.0),
        "thirds": lambda rng, shape: rng.choice([-1 / 3, 0, 1 / 3], shape, p=[0.2, 0.5, 0.3]),
        **hair,
    }


def _hair(rng: np.random.Generator, shape: tuple[int, int], lost: float) -> Floats:
    return np.where(rng.random(shape) < lost, -1.0, rng.normal(0, 0.005, shape))


def difference(name: str, draws: int) -> list[str]:
    """Return, for each size, how often the interval and t hold, and the width of it by that of t.

    The last cell is how often p and the interval contradict.
    """
    draw, cells, against, of = kinds()[name], [name], 0, 0
    truth = float(np.mean([draw(generator(name, k), (1000, 1000)).mean() for k in range(30)]))
    for n in INTERVALS:
        d = draw(generator(name, n), (n, draws))
        found = of_means(d, np.zeros_like(d), RESAMPLES)
        differ = d.std(axis=0) > 1e-12
        half = stats.t.isf(0.025, n - 1) * d.std(axis=0, ddof=1) / np.sqrt(n)
        held = np.mean((found["low"] <= truth + 1e-4) & (truth - 1e-4 <= found["high"]))
        student = np.mean(np.abs(d.mean(axis=0) - truth) <= half + 1e-4)
        width = np.median((found["high"] - found["low"])[differ] / (2 * half[differ]))
        cells.append(f"{held:.0%}, {student:.0%}, {width:.2f}")
        excluded = (found["low"] > 0) | (found["high"] < 0)
        against += int((excluded != (found["p"] <= 0.05)).sum())
        of += draws
    return [*cells, f"{against} of {of:,}"]


def family(name: str, draws: int, shares: Sequence[Floats], correlation: float) -> list[str]:
    """Return, for each size, how often any two equal systems are called different, after Holm."""
    graded = len(shares[0]) > 2
    pairs = list(combinations(range(len(shares)), 2))
    equal = [bool(np.array_equal(shares[i], shares[j])) for i, j in pairs]
    cells = [name]
    for n in SIZES[:2]:
        values = drawn(n, draws, shares, correlation, generator(name, n))
        p = np.array([judged(values[i], values[j], graded)["p"] for i, j in pairs])
        holm = np.array([multipletests(each, method="holm")[1] for each in p.T])
        cells.append(f"{(holm[:, equal] <= 0.05).any(axis=1).mean():.1%}")
    return cells


def agreement(n: int, draws: int) -> list[str]:
    """Return the lowest and highest coverage and share of contradictions, also for z = 1.96.

    From 5 to 50 % of the questions differ, at least 30 of them; one system is better on 50 to 90 %
    of these.
    """
    held, contradictions = [], []
    for share, better in product((0.05, 0.1, 0.2, 0.3, 0.5), (0.5, 0.625, 0.75, 0.9)):
        if share * n < 30:
            continue
        shares = [share * better, share * (1 - better), 1 - share]
        a, b, same = generator(f"{share} {better}", n).multinomial(n, shares, draws).T.astype(float)
        truth, significant = shares[0] - shares[1], mcnemar(a, b) <= 0.05
        ends = [score_interval(a, b, a + b + same, z) for z in (exact_critical_value(a + b), Z)]
        held.append([np.mean((low <= truth) & (truth <= high)) for low, high in ends])
        contradictions.append(
            [np.mean(((low > 0) | (high < 0)) != significant) for low, high in ends]
        )
    cells = [str(n)]
    for kind in zip(zip(*held, strict=True), zip(*contradictions, strict=True), strict=True):
        cells += [f"{min(values):.1%} to {max(values):.1%}" for values in kind]
    return cells


def main() -> None:
    """Print the tables as Markdown."""
    gc.freeze()  # statsmodels collects garbage in every correction.
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rows = [
        row(name, draws, [np.array([1 - a, a]), np.array([1 - b, b])], correlation)
        for name, (a, b, correlation) in YES_NO.items()
    ]
    rows += [
        row(name, draws, [shares_of(a), shares_of(b)], correlation)
        for name, (a, b, correlation) in GRADED.items()
    ]
    header = ["systems", *(f"{what}, n = {n}" for n in SIZES for what in ("different", "holds"))]
    print(tabulate(rows, headers=header, tablefmt="pipe", disable_numparse=True))
    good, less = np.array([0.3, 0.7]), np.array([0.5, 0.5])
    graded, lower = shares_of((0.5, 0.2)), shares_of((0.3, 0.4))
    rows = [
        family("five equal, yes or no", draws, [good] * 5, 0.6),
        family("three and two, yes or no", draws, [good] * 3 + [less] * 2, 0.6),
        family("five equal, graded", draws, [graded] * 5, 0.7),
        family("three and two, graded", draws, [graded] * 3 + [lower] * 2, 0.7),
    ]
    header = ["systems", *(f"any wrong, n = {n}" for n in SIZES[:2])]
    print("\n" + tabulate(rows, headers=header, tablefmt="pipe", disable_numparse=True))
    rows = [agreement(n, 20 * draws) for n in (60, 300, 1000, 3000)]
    header = ["questions", "holds", "contradicts p", "z = 1.96: holds", "z = 1.96: contradicts p"]
    print("\n" + tabulate(rows, headers=header, tablefmt="pipe", disable_numparse=True))
    rows = [difference(name, draws) for name in kinds()]
    header = ["differences", *(f"n = {n}" for n in INTERVALS), "contradicts p"]
    print("\n" + tabulate(rows, headers=header, tablefmt="pipe", disable_numparse=True))


if __name__ == "__main__":
    main()
