"""Compare exact search with the bare matrix product over the same vectors.

    python -m benchmarks.exact_search [chunks] [dimensions] [k] [questions]

The product is NumPy's, on an array in memory; the search reads its memory-mapped file, finds the
best documents by our tie rule and rescores them in float64.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from bears.retrieval.stores.memory import Memory
from bears.retrieval.vectors import Shard, Vectors, normalized

SHARD = 10_000


def shards(chunks: int, dimensions: int) -> Iterator[Shard]:
    """Return random directions, the same in every run."""
    for number, start in enumerate(range(0, chunks, SHARD)):
        size = min(SHARD, chunks - start)
        random = np.random.default_rng(number)
        vectors = normalized(random.standard_normal((size, dimensions), np.float32))
        names = tuple(f"d{i}" for i in range(start, start + size))
        yield Shard(number, names, ("",) * size, ("",) * size, vectors)


def milliseconds(
    acts: Sequence[Callable[[Vectors], object]], questions: Vectors
) -> list[list[float]]:
    """Time of each call, the acts taking turns; the first round, which loads, is left out."""
    spent: list[list[float]] = [[] for _ in acts]
    for question in [questions[0], *questions]:
        for act, times in zip(acts, spent, strict=True):
            started = time.perf_counter()
            act(question)
            times.append((time.perf_counter() - started) * 1000)
    return [times[1:] for times in spent]


def main(arguments: list[str]) -> None:
    """Write the store, measure both, print the ratio of the medians."""
    numbers = [int(argument) for argument in arguments]
    chunks, dimensions, k, count = [*numbers, *[1_000_000, 384, 100, 50][len(numbers) :]]
    questions = next(shards(count, dimensions)).vectors
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        Memory().write(shards(chunks, dimensions), Path(folder))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"written in {time.perf_counter() - started:.1f} s, peak memory {peak:.0f} MiB")
        started = time.perf_counter()
        searcher = Memory().open(Path(folder))
        print(f"opened in {time.perf_counter() - started:.2f} s")
        vectors = np.load(Path(folder) / "vectors.npy")
        acts = [lambda asked: searcher.nearest(asked[None], k, [""]), lambda asked: vectors @ asked]
        ours, bare = (float(np.median(times)) for times in milliseconds(acts, questions))
    print(f"{chunks} x {dimensions}, top {k}: search {ours:.1f} ms, product {bare:.1f} ms")
    print(f"ratio {ours / bare:.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
