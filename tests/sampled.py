"""Benchmarks to sample: the real sources, made-up ones, and what a sound sample is."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

from bears.config import compose
from bears.config.ledger.entries import Ledger
from bears.config.shape import Source
from bears.config.typed import parse
from bears.files.rows import SourceRecords
from bears.layout import LOCAL
from bears.sampling.lineage import Sample
from bears.sampling.mixture import Mixture, PublishedRecipe, Quota, Recipe, V1Recipe
from bears.sampling.sample import sample
from bears.sources import parts as built
from bears.sources import squad
from bears.sources.convert import located
from bears.sources.parts import Lines, Parts, Reader, RowRecords, numbered, numbered_records
from bears.sources.passage_rows import multi_hop
from bears.sources.rows import Numbered
from bears.sources.source import reader_of
from bears.types import Document, Paragraph, SourceQuestion
from tests.workspace import ROOT

CHOICES = {
    "retriever": "bm25",
    "vector_store": "memory",
    "chunking": "none",
    "engine": "local",
    "translator": "published",
    "rewriter": "none",
    "generator": "none",
    "judge": "none",
    "language": "zh-Hant-TW",
}
QUOTAS = (Quota("drcd", 20), Quota("hotpotqa", 20), Quota("2wiki", 20))
BEARS = Recipe(seed=42, documents=600, sources=QUOTAS, negatives=("drcd",))
V1 = V1Recipe(**vars(BEARS))
PUBLISHED = PublishedRecipe(**vars(BEARS))
Rows = dict[str, SourceRecords]
Given = Callable[[str], RowRecords]
"""The records of a row, from the name of its source."""
GivenSources = Mapping[str, SourceRecords | Sequence[Given]]
Raw = Mapping[str, list[dict[str, Any]]]


@dataclass
class GivenParts(Parts):
    """Rows that are in no file."""

    given: Sequence[Any] = ()

    def rows(self, part: str = "", lines: Lines = numbered) -> Iterator[Numbered]:
        assert (part, lines) == ("", numbered)
        return ((self.name, number, row) for number, row in enumerate(self.given, start=1))


def uuid(name: str) -> str:
    return str(uuid5(NAMESPACE_DNS, name))


def draw(mixture: Mixture, sources: GivenSources, ledger: Ledger | None = None) -> Sample:
    return sample(mixture, all_recorded(sources), ledger or Ledger())


def question_ids(drawn: Sample) -> list[str]:
    return [question.question_id for question in drawn.questions]


def doc_ids(drawn: Sample) -> list[str]:
    return [document.doc_id for document in drawn.documents]


@cache
def read_sources(benchmark: str, mirror: Path | None = None) -> Rows:
    """Return the records of a benchmark, as its stages `download` and `sample` hand them over."""
    conf = compose(ROOT / "conf", {"benchmark": benchmark, **CHOICES})
    rows: Rows = {}
    for name, value in conf["sources"].items():
        source, parts = located(parse(Source, value, name), mirror, ROOT, LOCAL)
        rows[name] = collected(reader_of(source)(parts))
    return rows


def generated(rng: random.Random, rows: int = 30, share: float = 1.0) -> Raw:
    """Sources in which paragraphs are shared and repeated, within a row and across sources.

    Args:
        rng: what chooses.
        rows: of each source.
        share: of the paragraphs of passage rows that other rows can hold as well.
    """
    texts = [f"text {n}" for n in range(rng.choice([25, 60, 200]))]

    def sentences() -> list[str]:
        return (rng.choice(texts) if rng.random() < share else f"own {rng.random()}").split()

    def row(n: int) -> dict[str, Any]:
        titles = [rng.choice("ABCDEFGH") for _ in range(rng.choice([0, 2, 4, 6]))]
        return {
            "id": f"r{n}",
            "question": f"question {n}?",
            "answer": f"answer {n}",
            "context": {"title": titles, "sentences": [sentences() for _ in titles]},
            "supporting_facts": {"title": rng.choices("ABCDEFGHI", k=2)},
        }

    def article(n: int) -> dict[str, Any]:
        paragraphs = [
            {
                "id": f"{n}-{p}",
                "context": rng.choice(texts) if rng.random() < 0.3 else f"paragraph {n}-{p}",
                "qas": [
                    {"id": f"{n}-{p}-{q}", "question": "?", "answers": [{"text": f"a{q}"}]}
                    for q in range(rng.randrange(3))
                ],
            }
            for p in range(3)
        ]
        return {"id": str(n), "title": f"title {n}", "paragraphs": paragraphs}

    return {
        "drcd": [article(n) for n in range(rows + 10)],
        "hotpotqa": [row(n) for n in range(rows)],
        "2wiki": [row(n) for n in range(rows)],
    }


def typed(raw: Raw) -> Rows:
    """The generated rows, read as the real ones are."""
    readers: dict[str, Reader] = {
        "drcd": squad.read_squad,
        "hotpotqa": multi_hop,
        "2wiki": multi_hop,
    }
    return {
        name: collected(read(GivenParts(Source(name, "en", ""), {}, given=raw[name])))
        for name, read in readers.items()
    }


def all_recorded(sources: GivenSources) -> Rows:
    """Return the records of sources, some of which are rows that are in no file."""
    return {
        name: given if isinstance(given, SourceRecords) else collected(row(name) for row in given)
        for name, given in sources.items()
    }


def collected(rows: Iterable[RowRecords]) -> SourceRecords:
    """Return the records of rows that are in no file."""
    found = list(numbered_records(rows))
    return SourceRecords(
        [each for each in found if isinstance(each, Document)],
        [each for each in found if isinstance(each, SourceQuestion)],
    )


def mixture_of(
    documents: int, seed: int = 0, negatives: tuple[str, ...] = ("fill",), **questions: int
) -> Mixture:
    """Return a mixture of so many questions of each source."""
    quotas = tuple(Quota(source, n) for source, n in questions.items())
    return Recipe(seed, documents, quotas, negatives)


def small(sampler: type[Mixture], seed: int, questions: int, documents: int) -> Mixture:
    shares = tuple(Quota(quota.source, questions) for quota in QUOTAS)
    return sampler(seed, documents, shares, BEARS.negatives)


def passage_row(identifier: str, *passages: tuple[str, str, bool]) -> Given:
    """Return a question that brings these passages."""
    return lambda source: built.passage_row(
        source,
        identifier,
        f"question {identifier}?",
        (f"answer {identifier}",),
        "multi-hop",
        [Paragraph(*passage) for passage in passages],
    )


def article(*texts: str) -> Given:
    """Return paragraphs p0, p1, … without questions: random negatives."""
    return lambda source: [
        built.passage_document(source, f"p{n}", text) for n, text in enumerate(texts)
    ]


def texts_of(drawn: Sample, sources: Rows) -> tuple[list[set[str]], list[set[str]]]:
    """For each question all texts of its row, and the gold ones; the lineage says which row."""
    everything: list[set[str]] = []
    gold: list[set[str]] = []
    asked = [row for row in drawn.lineage if row["kind"] == "question"]
    by_id = {
        name: {each.question.question_id: each for each in records.questions}
        for name, records in sources.items()
    }
    for question, line in zip(drawn.questions, asked, strict=True):
        assert question.question_id == line["record_id"]
        assert question.question_id == uuid(f"q:{line['source']}:{line['upstream_id']}")
        row = by_id[line["source"]][line["upstream_id"]]
        assert row.row == line["row"]
        texts = {p: sources[line["source"]].documents[p.place].content for p in row.passages}
        everything.append({*texts.values()})
        gold.append({text for p, text in texts.items() if p.is_gold})
    return everything, gold


def assert_sound(drawn: Sample, mixture: Mixture, given: GivenSources) -> None:
    """Everything that a sample of `bears` promises, also after replacements."""
    sources = all_recorded(given)
    everything, gold = texts_of(drawn, sources)
    ids = question_ids(drawn)
    by_id = {document.doc_id: document for document in drawn.documents}
    assert [q.source_dataset for q in drawn.questions] == [
        quota.source for quota in mixture.sources for _ in range(quota.questions)
    ]
    assert len(drawn.documents) == mixture.documents
    assert len(set(ids)) == len(ids)
    assert len(by_id) == mixture.documents
    assert len({document.content for document in drawn.documents}) == mixture.documents
    for question, expected in zip(drawn.questions, gold, strict=True):
        assert len(set(question.gold_doc_ids)) == len(question.gold_doc_ids) > 0
        assert {by_id[doc_id].content for doc_id in question.gold_doc_ids} == expected
    named = {doc_id for question in drawn.questions for doc_id in question.gold_doc_ids}
    assert {document.doc_id for document in drawn.documents if document.is_gold} == named
    used = set().union(*everything)
    assert used <= {document.content for document in drawn.documents}
    paragraphs = {
        (source, paragraph.original_id): paragraph.content
        for source in mixture.negatives
        for paragraph in sources[source].documents
    }
    roles = {row["record_id"]: row["role"] for row in drawn.lineage if row["kind"] == "document"}
    for document in drawn.documents:
        assert document.doc_id == uuid(f"{document.original_source}:{document.original_id}")
        if document.content in used:
            assert roles[document.doc_id] == ("gold" if document.is_gold else "hard_negative")
        else:
            place = document.original_source, document.original_id
            assert paragraphs[place] == document.content
            assert roles[document.doc_id] == "random_negative"
