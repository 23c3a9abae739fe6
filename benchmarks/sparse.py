"""Measure BM25, bm25s with numba, and tantivy: index and search the same terms.

    python -m benchmarks.sparse [--documents N] [--scifact FOLDER] [--queries N] [--k K]
                                [--peers NAME ...]

Each engine runs in a process of its own, one after the other, and reads the same file of texts;
imports and compiling count. Synthetic documents are of 20 to 100 words drawn from Zipf's law over
200,000 words, with seed 0, and a question is five words of one document. SciFact's texts have been
through the English analyzer before, so that all count the same terms. numba and tantivy are no
dependencies of the project: `uv pip install numba tantivy` into an environment of your own.

Measured beside other work, 1,000 questions, ten documents each, processor seconds in all. No
question differed. Splitting texts and looking words up is most of ours: counting with pyarrow and
threads, which took a third of that, was 250 lines that few could read.

    documents           ours    tantivy
    SciFact (1,109)     1.1     0.7
    100,000             8.4     4.4

tantivy is asked in its fastest way: without counting what matches, and for the place of a document
out of a column.

"differ" is the number of questions whose k documents and scores are not ours to four digits, with
the lengths exact for bm25s, and rounded for tantivy, which like Lucene keeps them in a byte.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from tabulate import tabulate

K1, B = 1.2, 0.75  # tantivy has no others
VOCABULARY = 200_000

Found = Sequence[tuple[Any, float]]
"""Documents, by their places in the corpus from 0, with their scores; best first."""

Search = Callable[[Iterable[str]], list[Found]]
"""From questions to what each finds."""


def texts(file: Path) -> Iterator[str]:
    """Yield the lines of a file."""
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield line[:-1]


def ours(corpus: Path, folder: Path, k: int, lengths: str = "exact") -> Callable[[], Search]:
    """Measure this project's BM25, written to disk and opened again."""
    from bears.retrieval.retriever import Query, Stopwatch
    from bears.retrieval.sparse.bm25 import BM25
    from bears.types import Document

    rounded = ["en"] if lengths == "lucene" else []
    retriever = BM25(K1, B, "en", analyzer="words", lucene_lengths=rounded)
    documents = (Document(str(i), t, "", "", False) for i, t in enumerate(texts(corpus)))
    retriever.index(documents, folder, folder)

    def opened() -> Search:
        searcher, stopwatch = retriever.open(folder), Stopwatch()
        return lambda questions: [
            searcher.search([Query(text)], k, stopwatch)[0] for text in questions
        ]

    return opened


def ours_lucene(corpus: Path, folder: Path, k: int) -> Callable[[], Search]:
    """Measure the same with lengths in a byte."""
    return ours(corpus, folder, k, "lucene")


def bm25s_numba(corpus: Path, folder: Path, k: int) -> Callable[[], Search]:
    """Measure bm25s with everything compiled that it can compile."""
    import bm25s

    def tokens(texts: list[str]) -> object:
        return bm25s.tokenize(
            texts, lower=False, token_pattern=r"\S+", stopwords=None, show_progress=False
        )

    index = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numba")
    index.index(tokens(list(texts(corpus))), show_progress=False)
    index.save(str(folder), show_progress=False)

    def opened() -> Search:
        saved = bm25s.BM25.load(str(folder))

        def search(questions: Iterable[str]) -> list[Found]:
            found = saved.retrieve(tokens(list(questions)), k=k, n_threads=2, show_progress=False)
            rows = zip(found.documents.tolist(), found.scores.tolist(), strict=True)
            return [list(zip(*row, strict=True)) for row in rows]

        return search

    return opened


def tantivy(corpus: Path, folder: Path, k: int) -> Callable[[], Search]:
    """Measure tantivy with two writing threads and the whitespace tokenizer.

    Its threads deal the documents out anew, so that each has to keep its place in a field.
    """
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    builder.add_integer_field("place", fast=True)
    schema = builder.build()
    index = tantivy.Index(schema, str(folder))
    writer = index.writer(1_000_000_000, 2)
    for place, text in enumerate(texts(corpus)):
        writer.add_document(tantivy.Document(text=text, place=place))
    writer.commit()
    writer.wait_merging_threads()

    def opened() -> Search:
        index.reload()
        searcher = index.searcher()

        def search(text: str) -> Found:
            terms = [tantivy.Query.term_query(schema, "text", term) for term in text.split()]
            query = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
            # Counting all that match would keep it from skipping what cannot be among the best.
            hits = searcher.search(query, k, count=False).hits
            places = searcher.fast_field_values("place", [address for _, address in hits])
            return list(zip(places, [score for score, _ in hits], strict=True))

        return lambda questions: [search(text) for text in questions]

    return opened


PEERS = ["bm25s_numba", "tantivy"]
ENGINES = {f.__name__: f for f in (ours, ours_lucene, bm25s_numba, tantivy)}


def measure(engine: str, corpus: Path, questions: Path, k: int, out: Path) -> None:
    """Index and search with one engine; writes seconds, bytes and what was found as JSON."""
    with tempfile.TemporaryDirectory(dir=corpus.parent) as folder:
        started = perf_counter()
        opened = ENGINES[engine](corpus, Path(folder), k)
        indexed = perf_counter()
        search = opened()
        found = search(texts(questions))
        searched = perf_counter()
        size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20
    # bm25s fills up with documents that share no term with the question.
    pairs = [[(int(place), score) for place, score in one if score > 0] for one in found]
    row = {"index": indexed - started, "search": searched - indexed, "size": size / 2**20}
    out.write_text(json.dumps({**row, "cpu": cpu, "memory": memory, "found": pairs}))


def synthesise(documents: int, queries: int, folder: Path) -> None:
    """Write ``corpus.txt`` and ``questions.txt``, one text a line."""
    chance = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(VOCABULARY)])
    cumulated = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    asked = set(chance.choice(documents, min(queries, documents), replace=False).tolist())
    with (folder / "corpus.txt").open("w") as corpus, (folder / "questions.txt").open("w") as out:
        for i, length in enumerate(chance.integers(20, 101, documents).tolist()):
            drawn = np.searchsorted(cumulated, chance.random(length) * cumulated[-1])
            corpus.write(" ".join(words[drawn].tolist()) + "\n")
            if i in asked:
                out.write(" ".join(words[chance.choice(drawn, 5, replace=False)].tolist()) + "\n")


def scifact(source: Path, folder: Path) -> None:
    """Write SciFact's titles, texts and questions, after the English analyzer."""
    from bears.retrieval.sparse.terms import ANALYZERS

    # What ours would take for other terms, or for several, the peers would take for one.
    analyze, words = ANALYZERS["english"], ANALYZERS["words"]
    for name, file in (("corpus", "corpus.txt"), ("queries", "questions.txt")):
        rows = map(json.loads, texts(source / f"{name}.jsonl"))
        found = (analyze(f"{row.get('title', '')} {row['text']}") for row in rows)
        lines = [" ".join(term for term in terms if words(term) == [term]) for terms in found]
        (folder / file).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def compare(folder: Path, k: int, peers: Sequence[str]) -> None:
    """Measure ours and the peers on the corpus in ``folder``, and print a table."""
    results = {}
    for name in ("ours", "ours_lucene", *peers):
        out = folder / f"{name}.json"
        arguments = [name, folder / "corpus.txt", folder / "questions.txt", k, out]
        code = "import sys; from pathlib import Path; from benchmarks.sparse import measure; "
        code += "e, c, q, k, o = sys.argv[1:]; measure(e, Path(c), Path(q), int(k), Path(o))"
        variables = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "numba")}
        subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)], env=variables, check=True
        )
        results[name] = json.loads(out.read_text())
    headers = [
        "engine",
        "index s",
        "search q/s",
        "total s",
        "by ours",
        "CPU s",
        "MB",
        "GB",
        "differ",
    ]
    print(tabulate([_row(name, results) for name in results], headers=headers, floatfmt=".2f"))


def _row(name: str, results: dict[str, Any]) -> list[object]:
    like = results[{"bm25s_numba": "ours", "tantivy": "ours_lucene"}.get(name, name)]
    mine = results[name]
    total, least = (one["index"] + one["search"] for one in (mine, results["ours"]))
    # tantivy's scores have the factor (k1 + 1).
    factor = K1 + 1 if name == "tantivy" else 1
    same = [_alike(a, b, factor) for a, b in zip(mine["found"], like["found"], strict=True)]
    times = [mine["index"], len(same) / mine["search"], total, total / least]
    return [name, *times, mine["cpu"], mine["size"], mine["memory"], same.count(False)]


def _alike(found: list[tuple[int, float]], ours: list[tuple[int, float]], factor: float) -> bool:
    """Return whether scores and documents are equal; the last ones may be other ties."""
    if len(found) != len(ours) or not found:
        return len(found) == len(ours)
    scores, wanted = (np.array([score for _, score in one]) for one in (found, ours))
    by_place = dict(ours)
    kept = [by_place.get(place, wanted[-1]) for place, _ in found]
    return bool(
        np.allclose(scores / factor, wanted, rtol=1e-4)
        and np.allclose(scores / factor, kept, rtol=1e-4)
    )


def main() -> None:
    """Read the arguments, make the texts, compare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--scifact", type=Path)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=PEERS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if given.scifact:
            scifact(given.scifact, Path(name))
        else:
            synthesise(given.documents, given.queries, Path(name))
        compare(Path(name), given.k, given.peers)


if __name__ == "__main__":
    main()
