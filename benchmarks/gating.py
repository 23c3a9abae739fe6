"""How often `bears gate` fails a change that changes nothing, and shows the loss that it announces.

    python -m benchmarks.gating [DRAWS]

A retriever is run twice on questions drawn anew each time, and its results jitter: each question
has a normal number that both runs share, and each run adds its own; the sum's quantile gives the
value. It prints two tables of docs/statistics.md: for pairs without a change, how often the gate
fails (5 % at most) and the loss that it announces ("could show", the median); then, for pairs with
a loss of that size, how often it fails (80 % at least). Losses move values from the best to 0.
The second: intervals where most questions jitter by a hair and a few lose everything.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtr
from tabulate import tabulate

from bears.evaluation.clusters import Clusters, Floats
from bears.evaluation.comparison.paired import ALPHA, smallest_loss
from bears.evaluation.comparison.pairs import of_clusters, of_means, of_shares
from bears.evaluation.means import worst_case
from benchmarks.comparing import GRADES, generator, shares_of

SIGNS = 1_999
"""Changes of sign for each pair; more would take hours and change the third digit."""
SIZES = (20, 60, 300)


def yes_no(share: float, loss: float) -> Floats:
    """Return the shares of 0 and 1."""
    return np.array([1 - share + loss, share - loss])


def graded(best: float, worst: float, loss: float) -> Floats:
    """Return the shares of `GRADES`."""
    return shares_of((best - loss, worst + loss))


@dataclass(frozen=True)
class Kind:
    """A retriever and its jitter.

    Args:
        shares: loss to the share of each value.
        alike: the correlation of two runs.
        size: questions that belong together, whose jitter is alike.
        hair: whether values jitter by a hair, and a loss takes whole questions.
    """

    shares: Callable[[float], Floats]
    alike: float
    size: int = 1
    hair: bool = False


KINDS = {
    "yes or no, .70": Kind(partial(yes_no, 0.7), 0.6),
    "yes or no, .70, little jitter": Kind(partial(yes_no, 0.7), 0.95),
    "yes or no, .95": Kind(partial(yes_no, 0.95), 0.6),
    "graded": Kind(partial(graded, 0.5, 0.2), 0.7),
    "graded, little jitter": Kind(partial(graded, 0.5, 0.2), 0.95),
    "graded near 1": Kind(partial(graded, 0.9, 0.03), 0.6),
    "yes or no, .70, clusters of 4": Kind(partial(yes_no, 0.7), 0.6, 4),
    "graded, clusters of 4": Kind(partial(graded, 0.5, 0.2), 0.7, 4),
    "graded, clusters of 25": Kind(partial(graded, 0.5, 0.2), 0.7, 25),
    "a hair, rarely everything": Kind(partial(graded, 0.5, 0.2), 0.7, 1, True),
    "a hair, rarely everything, clusters of 4": Kind(partial(graded, 0.5, 0.2), 0.7, 4, True),
}
RARE = (0.02, 0.05, 0.1)
"""The shares of questions that are lost, of the table of intervals."""


def runs(
    kind: Kind, n: int, draws: int, loss: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the values of a run with a loss, and of one without, each of shape (n, draws)."""
    if kind.hair:
        base = rng.uniform(0.3, 1, (n, draws))
        kept = np.clip(base + rng.normal(0, 0.003, (n, draws)), 0, 1)
        return np.where(rng.random((n, draws)) < loss / base.mean(), 0.0, kept), base
    common = np.sqrt(kind.alike) * rng.standard_normal((n, draws))
    values = []
    for each in (loss, 0.0):
        together = rng.standard_normal((n // kind.size, draws)).repeat(kind.size, axis=0)
        alone = rng.standard_normal((n, draws))
        own = together if kind.size == 1 else np.sqrt(0.5) * (together + alone)
        place = ndtr(common + np.sqrt(1 - kind.alike) * own)
        shares = kind.shares(each)
        grades = GRADES if len(shares) > 2 else np.array([0.0, 1.0])
        values.append(grades[np.searchsorted(np.cumsum(shares)[:-1], place)])
    return values[0], values[1]


def clusters_of(kind: Kind, n: int) -> Clusters | None:
    """Return the cluster of each question, if any belong together."""
    return None if kind.size == 1 else np.arange(n) // kind.size


def failed(kind: Kind, candidate: Floats, base: Floats) -> float:
    """Return the share of the pairs that the gate fails."""
    clusters = clusters_of(kind, len(base))
    if clusters is not None:
        found = of_clusters(candidate, base, clusters, SIGNS, None, True)
    elif len(kind.shares(0.0)) > 2:
        found = of_means(candidate, base, SIGNS, None, True)
    else:
        found = of_shares(candidate, base, None, True)
    return float(np.mean(found["p"] <= ALPHA))


def measured(name: str, n: int, draws: int) -> tuple[float, float, float]:
    """Return the false failures, the announced loss, and the failures at that loss."""
    kind, rng = KINDS[name], generator(name, n)
    candidate, base = runs(kind, n, draws, 0.0, rng)
    clusters = clusters_of(kind, n)
    losses = [smallest_loss(pair, clusters, ALPHA) for pair in (candidate - base).T]
    loss = float(np.median(losses))
    return failed(kind, candidate, base), loss, failed(kind, *runs(kind, n, draws, loss, rng))


def rarely(share: float, n: int, draws: int) -> tuple[float, float]:
    """Return how often the 95 % interval holds, and how often a loss of its size is allowed.

    Values jitter by a hair, and a share of the questions loses everything.
    """
    rng = generator("rarely", n)
    lost = rng.random((n, draws)) < share
    d = np.where(lost, -1.0, rng.normal(0, 0.005, (n, draws)))
    both = of_means(d, np.zeros_like(d), SIGNS)
    held = (both["low"] <= -share) & (-share <= both["high"])
    return float(held.mean()), float((worst_case(d, -1.0, ALPHA) > -share).mean())


def main() -> None:
    """Print the tables as Markdown."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rows = []
    for name, kind in KINDS.items():
        cells = [name]
        for n in SIZES:
            if n // kind.size < 5:
                cells += ["–"] * 3  # No p of so few clusters is below 0.05.
                continue
            false, loss, power = measured(name, n, draws)
            cells.append(f"{false:.1%}")
            cells += ["–", "–"] if np.isnan(loss) else [f"{loss:.3f}", f"{power:.1%}"]
        rows.append(cells)
    columns = [f"{what}, n = {n}" for n in SIZES for what in ("fails", "could show", "shows it")]
    print(tabulate(rows, ["results", *columns], tablefmt="pipe", disable_numparse=True))
    rows = []
    for share in RARE:
        cells = [f"{share:.0%} lost"]
        for n in SIZES:
            held, passed = rarely(share, n, draws)
            cells += [f"{held:.1%}", f"{passed:.1%}"]
        rows.append(cells)
    columns = [f"{what}, n = {n}" for n in SIZES for what in ("holds", "allowed")]
    print("\n" + tabulate(rows, ["results", *columns], tablefmt="pipe", disable_numparse=True))


if __name__ == "__main__":
    main()
