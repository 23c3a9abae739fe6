"""Compare chunkings under one budget of characters, by the questions of a benchmark with spans.

    python -m benchmarks.chunkings FOLDER LANGUAGE [RETRIEVER …]

FOLDER has queries.json and corpus.json, such as data/chunking/translated. Prints the table of
docs/retrievers.md: a row for each chunking and retriever, and the characters of five chunks.
"""

import sys
from collections.abc import Iterator, Sequence
from statistics import fmean

from tabulate import tabulate

import bears
from bears.evaluation.comparison.result import compare
from bears.results.system import System

CHUNKINGS = ("passages", "characters", "tokens", "sentences")
RETRIEVERS = ("bm25", "wordllama")
MAIN = "span_recall@4000c"
MEASURES = (MAIN, "span_precision@4000c", "span_iou@4000c", "span_recall@5")
FIVE = 5


def systems(
    benchmark: bears.Benchmark, retrievers: Sequence[str]
) -> Iterator[tuple[System, float]]:
    """Yield what each retriever scores with each chunking, and the characters of five chunks."""
    for retriever in retrievers:
        for chunking in CHUNKINGS:
            index = benchmark.index(retriever, f"chunking={chunking}")
            run = index.chunks(benchmark.questions)
            scores = benchmark.evaluate(run, MEASURES)
            tops = [[hit.chunk for hit in ranking[:FIVE]] for ranking in run.values()]
            # A chunk without an end is a whole document, which no chunking here leaves.
            shown = fmean(sum((each.end or 0) - each.start for each in top) for top in tops)
            name = f"`{chunking}` | `{retriever}`"
            yield System(name, "", scores.by_question, scores.kinds), shown


def main(arguments: Sequence[str]) -> None:
    """Print the table, the highest recall under the budget first."""
    folder, language, *retrievers = arguments
    found = [*systems(bears.read(folder, language), retrievers or RETRIEVERS)]
    shown = {system.name: characters for system, characters in found}
    rows = []
    for each in compare([system for system, _ in found], MEASURES, MAIN)["systems"]:
        means = {name: f"{own['mean']:.3f}"[1:] for name, own in each["measures"].items()}
        first = each["measures"][MAIN]
        ends = f"{first['low']:.3f} to {first['high']:.3f}".replace("0.", ".")
        own = [means.pop(MAIN), ends, first["group"], *means.values()]
        rows.append((-first["mean"], [each["name"], *own, f"{shown[each['name']]:,.0f}"]))
    headers = [f"`{name}`" for name in MEASURES]
    headers = ["chunking | retriever", headers[0], "95 % interval", "group", *headers[1:]]
    lines = [row for _, row in sorted(rows)]
    print(tabulate(lines, [*headers, "characters"], "github", disable_numparse=True))


if __name__ == "__main__":
    main(sys.argv[1:])
