"""Compare how made questions and people's rank retrievers: Kendall's tau over one pool.

    python -m benchmarks.made PEOPLE MADE LANGUAGE [RETRIEVER …]

PEOPLE and MADE are folders with queries.json and corpus.json over the same documents, such as
data/<benchmark>/translated. A retriever may take overrides: ``wordllama:retriever.dimensions=64``.
The interval is of a bootstrap of both sets' questions (percentiles of scipy.stats.bootstrap); where
few retrievers are compared it is wide, whatever the questions are.
"""

import sys
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import bootstrap, kendalltau
from tabulate import tabulate

import bears
from bears.evaluation.clusters import Floats

RETRIEVERS = ("bm25", "wordllama", "hybrid", "all-minilm-l6-v2", "wordllama:chunking=sentences")
MEASURE, SEED = "ndcg@10", 42


def values(people: bears.Benchmark, made: bears.Benchmark, name: str) -> Iterator[pd.Series]:
    """Return the measure of each question of either set, searched in the index of PEOPLE."""
    retriever, *overrides = name.split(":")
    index = people.index(retriever, *overrides)
    for each in (people, made):
        scores = each.evaluate(index.run(each.questions), [MEASURE])
        yield scores.by_question[MEASURE]


def main(arguments: Sequence[str]) -> None:
    """Print a row for each retriever, then tau and its interval."""
    folders, names = arguments[:2], arguments[3:] or RETRIEVERS
    people, made = (bears.read(folder, arguments[2]) for folder in folders)
    columns = [list(values(people, made, name)) for name in names]
    sets: list[Floats] = [
        pd.concat(column, axis=1).to_numpy() for column in zip(*columns, strict=True)
    ]
    means = [each.mean(axis=0) for each in sets]
    rows = zip(names, *means, strict=True)
    print(tabulate(rows, ["retriever", "people", "made"], floatfmt=".3f"))

    def tau(*drawn: NDArray[np.int64]) -> float:
        pairs = zip(sets, drawn, strict=True)
        return float(kendalltau(*(each[places].mean(axis=0) for each, places in pairs)).statistic)

    every = [np.arange(len(each)) for each in sets]
    found = bootstrap(every, tau, vectorized=False, method="percentile", rng=SEED)
    low, high = found.confidence_interval
    print(f"questions: {len(sets[0])} of people, {len(sets[1])} made")
    print(f"Kendall's tau {tau(*every):.2f} [{low:.2f}, {high:.2f}]")


if __name__ == "__main__":
    main(sys.argv[1:])
