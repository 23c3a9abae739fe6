"""Do made questions rank retrievers as people's questions do? Kendall's tau over one pool.

    python -m benchmarks.made PEOPLE MADE LANGUAGE [RETRIEVER …]

PEOPLE and MADE are folders with queries.json and corpus.json over the same documents, such as
data/<benchmark>/translated. A retriever may take overrides: ``wordllama:retriever.dimensions=64``.
The interval is of a bootstrap of both sets' questions (percentiles, as scipy.stats.bootstrap has
them); where few retrievers are compared it is wide, whatever the questions are.
"""

import sys
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy.stats import kendalltau
from tabulate import tabulate

import bears
from bears.bootstrap import Floats

RETRIEVERS = ("bm25", "wordllama", "hybrid", "all-minilm-l6-v2", "wordllama:chunking=sentences")
MEASURE, DRAWS, SEED = "ndcg@10", 10_000, 42


def values(people: bears.Benchmark, made: bears.Benchmark, name: str) -> Iterator[pd.Series]:
    """The measure of each question of either set; both are searched in the index of PEOPLE."""
    retriever, *overrides = name.split(":")
    index = people.index(retriever, *overrides)
    for each in (people, made):
        scores = each.evaluate(index.run(each.questions), [MEASURE])
        yield scores.by_question[MEASURE]


def drawn(values: Floats, random: np.random.Generator) -> Floats:
    """Means of the columns over questions drawn with replacement: (draws, retrievers)."""
    places = random.integers(len(values), size=(DRAWS, len(values)))
    return np.stack([values[each].mean(axis=0) for each in places])


def main(arguments: Sequence[str]) -> None:
    """Print a row for each retriever, then tau and its interval."""
    folders, names = arguments[:2], arguments[3:] or RETRIEVERS
    people, made = (bears.read(folder, arguments[2]) for folder in folders)
    found = [list(values(people, made, name)) for name in names]
    sets: list[Floats] = [
        pd.concat(column, axis=1).to_numpy() for column in zip(*found, strict=True)
    ]
    means = [each.mean(axis=0) for each in sets]
    rows = zip(names, *means, strict=True)
    print(tabulate(rows, ["retriever", "people", "made"], floatfmt=".3f"))
    random = np.random.default_rng(SEED)
    pairs = zip(*(drawn(each, random) for each in sets), strict=True)
    taus = [kendalltau(one, other).statistic for one, other in pairs]
    low, high = np.percentile(taus, [2.5, 97.5])
    print(f"questions: {len(sets[0])} of people, {len(sets[1])} made")
    print(f"Kendall's tau {kendalltau(*means).statistic:.2f} [{low:.2f}, {high:.2f}]")


if __name__ == "__main__":
    main(sys.argv[1:])
