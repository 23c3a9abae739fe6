"""The rules for every retriever, whatever it finds relevant: one function per rule.

A check fails by an assertion that shows the result. test_retriever_conformance.py puts every
file of conf/retriever through all of them, and shows that each can fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import mkdtemp

import pytest

from bears.errors import BearsError
from bears.retrieval.levels import OpenIndex
from bears.retrieval.retriever import Query, Retriever, RetrieveSettings, Searcher, Stopwatch
from bears.types import Chunk, Document, Ranking
from tests import retrieving
from tests.retrieving import document, ids, indexed

SAME = "a red apple lies in the green garden"
QUESTION = "red apple garden"
DEEP = 10_000
TIED = ("a", "B", "é", "z", "é2", "\uffee", "\U00020000")
"""Ids whose order by UTF-8 bytes differs from that by UTF-16, by locale or without case."""


CORPUS = [
    *(document(doc_id, SAME, "tied") for doc_id in TIED),
    *(document(f"in-{n}", f"the apple number {n} in a garden", "odd") for n in range(4)),
    document("blank", "", "odd"),
    document("space", " \n\u3000", "odd"),
    document("long#0-1", "a stone wall by the road", "long"),
    *(document(f"long#{n}-{n + 1}", f"red apple garden {n % 3}", "long") for n in range(1, 41)),
    document("far", "the train leaves at noon for the harbour", "far"),
    document("中文", "花園裡有一顆紅色的蘋果", "far"),
]
DOC_IDS = {one.doc_id for one in CORPUS}


@dataclass(frozen=True)
class Bench:
    """A retriever, and a folder in which its indexes are made."""

    retriever: Retriever
    folder: Path

    def index(self, documents: Sequence[Document]) -> Path:
        self.folder.mkdir(exist_ok=True)
        return indexed(self.retriever, documents, Path(mkdtemp(dir=self.folder)))

    def opened(self, documents: Sequence[Document]) -> Searcher:
        return self.retriever.open(self.index(documents))


def ask(searcher: Searcher, query: Query, k: int = DEEP) -> Ranking:
    return retrieving.ask(searcher, query, k)


def assert_well_formed(ranking: Ranking, k: int) -> None:
    """Check for at most ``k`` unique documents of the corpus, by finite scores, ties by id."""
    assert len(ranking) <= k, f"{len(ranking)} documents where {k} were asked for"
    assert len(set(ids(ranking))) == len(ranking), f"a document twice: {ids(ranking)}"
    assert set(ids(ranking)) <= DOC_IDS, f"not in the corpus: {set(ids(ranking)) - DOC_IDS}"
    assert all(math.isfinite(hit.score) for hit in ranking), f"not finite: {ranking}"
    keys = [(hit.score, hit.doc_id.encode()) for hit in ranking]
    assert keys == sorted(keys, reverse=True), f"not by (score, doc_id) descending: {ranking}"


def assert_alike(one: Ranking, other: Ranking) -> None:
    assert ids(one) == ids(other)
    assert [hit.score for hit in one] == pytest.approx([hit.score for hit in other], abs=1e-5)


def well_formed(bench: Bench) -> None:
    """Rankings have unique documents and finite scores that descend."""
    searcher = bench.opened(CORPUS)
    for text in (QUESTION, SAME, "noon harbour", "紅色的蘋果", "nothing of this stands anywhere"):
        assert_well_formed(ask(searcher, Query(text)), DEEP)


def groups(bench: Bench) -> None:
    """`Query.group` finds all documents of the group, and no others."""
    searcher = bench.opened(CORPUS)
    for group, k in product(("tied", "odd", "long"), (1, DEEP)):
        found = ask(searcher, Query(SAME, group), k)
        strangers = set(ids(found)) - {one.doc_id for one in CORPUS if one.group == group}
        assert not strangers, f"of other groups than {group!r}: {strangers}"
        assert found, f"nothing of the group {group!r}"
    assert set(ids(ask(searcher, Query(SAME, "tied")))) == set(TIED)
    assert ask(searcher, Query(SAME, "no such group")) == ()


def ties(bench: Bench) -> None:
    """Documents of the same text are ordered by descending UTF-8 bytes of doc_id."""
    expected = sorted(TIED, key=str.encode, reverse=True)
    searcher = bench.opened(CORPUS)
    for k in (DEEP, 3):
        assert ids(ask(searcher, Query(SAME, "tied"), k)) == expected[:k]
    assert [one for one in ids(ask(searcher, Query(SAME))) if one in TIED] == expected


def depth(bench: Bench) -> None:
    """A ranking has ``k`` documents if there are enough; a deeper one begins with the same."""
    searcher = bench.opened(CORPUS)
    deep = ask(searcher, Query(QUESTION))
    assert len(deep) >= 5, f"{len(deep)} documents"
    for k in (1, 2, 5, len(deep), len(deep) + 1):
        shallow = ask(searcher, Query(QUESTION), k)
        assert_well_formed(shallow, k)
        assert_alike(shallow, deep[:k])


def chunks(bench: Bench) -> None:
    """Documents are ranked by their best chunk, however many chunks come before them (MaxP)."""
    searcher = bench.opened(CORPUS)
    best: dict[str, float] = {}
    parts = [each.doc_id for each in CORPUS if each.doc_id.startswith("long#")]
    places = {name: Chunk("long", place, place + 1) for place, name in enumerate(parts)}
    for hit in ask(searcher, Query(QUESTION)):
        doc_id = "long" if hit.doc_id in places else hit.doc_id
        best.setdefault(doc_id, hit.score)
    expected = sorted(best, key=lambda doc_id: (best[doc_id], doc_id.encode()), reverse=True)
    # Forty chunks of one document are nearer than any other document.
    for k in (2, 5):
        index = OpenIndex(searcher, 1.1, places, RetrieveSettings(k, None, False))
        found = index.levels({"q": Query(QUESTION)}, k, Stopwatch())["q"]
        assert ids(found.documents) == expected[:k]


def empty_question(bench: Bench) -> None:
    """A question without a word is accepted."""
    searcher = bench.opened(CORPUS)
    for text in ("", " \n", "?!"):
        assert_well_formed(ask(searcher, Query(text)), DEEP)


def empty_text(bench: Bench) -> None:
    """A corpus of documents without text is accepted."""
    searcher = bench.opened([document("blank", ""), document("space", " ")])
    assert set(ids(ask(searcher, Query(QUESTION)))) <= {"blank", "space"}


def empty_corpus(bench: Bench) -> None:
    """A corpus without documents finds nothing, or is refused."""
    with suppress(BearsError):
        assert ask(bench.opened([]), Query(QUESTION)) == ()


def reopening(bench: Bench) -> None:
    """An index gives the same ranking each time it is opened or made."""
    folder = bench.index(CORPUS)
    asked = [Query(SAME), Query(QUESTION), Query(QUESTION, "odd"), Query("noon")]
    expected = bench.retriever.open(folder).search(asked, 7, Stopwatch())
    assert bench.retriever.open(folder).search(asked, 7, Stopwatch()) == expected
    assert bench.opened(CORPUS).search(asked, 7, Stopwatch()) == expected


def together(bench: Bench) -> None:
    """Questions searched together find the same as each alone, in their order."""
    searcher = bench.opened(CORPUS)
    asked = [Query(QUESTION), Query("noon harbour"), Query(SAME, "odd"), Query(""), Query(QUESTION)]
    found = searcher.search(asked, 6, Stopwatch())
    assert len(found) == len(asked)
    for query, ranking in zip(asked, found, strict=True):
        assert_alike(ranking, ask(searcher, query, 6))


CHECKS: tuple[Callable[[Bench], None], ...] = (
    well_formed,
    groups,
    ties,
    depth,
    chunks,
    empty_question,
    empty_text,
    empty_corpus,
    reopening,
    together,
)
