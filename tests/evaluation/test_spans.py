"""Measures of spans against sets of characters, and on Chroma's own questions."""

from __future__ import annotations

import csv
import json
import math
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bears.evaluation.evaluate import evaluate, gold_of, parse_measure
from bears.evaluation.metric import span_gold
from bears.library import Benchmark, build
from bears.retrieval.chunking.characters import Characters
from bears.types import Chunk, ChunkRanking, Document, Question, Span, chunks_in_order
from tests.workspace import ROOT

NAMES = ["span_recall", "span_precision", "span_iou", "span_success"]
CHUNKING = Characters(7, 3)


def oracle(
    spans: Sequence[Span], chunks: Sequence[Chunk], k: int | None, touching: int
) -> dict[str, float]:
    """METRICS.md §12 as sets of (document, character)."""
    gold = {(s.doc_id, c) for s in spans for c in range(s.start, s.end)}
    if not gold:
        return dict.fromkeys(NAMES, math.nan)
    top = chunks[: touching if k is None else k]
    characters = [(chunk.doc_id, c) for chunk in top for c in range(chunk.start, chunk.end or 0)]
    covered = len(gold & {*characters})
    return {
        "span_recall": covered / len(gold),
        "span_precision": covered / len(characters) if characters else 0.0,
        "span_iou": covered / (len(characters) + len(gold) - covered),
        "span_success": float(covered > 0),
    }


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("k", [1, 3, 8, None])
def test_every_measure_is_that_of_sets_of_characters(seed: int, k: int | None) -> None:
    chance = random.Random(seed)
    documents = [Document(f"d{n}", "x" * (20 + n), "s", f"d{n}", True) for n in range(4)]
    questions, run, expected = [], dict[str, ChunkRanking](), []
    every = [Chunk(d.doc_id, *r) for d in documents for r in CHUNKING.ranges(d.content)]
    for number in range(6):
        starts = [(chance.randrange(4), chance.randrange(18)) for _ in range(number % 4)]
        spans = [Span(f"d{n}", a, a + chance.randint(1, 9), "x") for n, a in starts]
        key = f"q{number}"
        asked = Question(key, "?", "", ("d0",), "s", "ad-hoc", gold_spans=tuple(spans))
        questions.append(replace(asked, gold_spans=(*spans, Span("d1", 0, 0, "lost"))))
        # Whole documents are among the chunks.
        found = chance.sample([*every, *(Chunk(d.doc_id, 0, len(d.content)) for d in documents)], 8)
        whole = {Chunk(d.doc_id, 0, len(d.content)): Chunk(d.doc_id) for d in documents}
        run[key] = chunks_in_order(whole.get(chunk, chunk) for chunk in found)
        touching = sum(oracle(spans, [chunk], 1, 1)["span_success"] > 0 for chunk in every)
        expected.append(oracle(spans, found, k, touching))
    covered = span_gold(questions, documents, CHUNKING.ranges).rankings(run)
    names = [name if k is None else f"{name}@{k}" for name in NAMES]
    measures = [parse_measure(name) for name in names]
    values = evaluate({}, gold_of(questions), measures, covered).values
    for name, measure in zip(NAMES, names, strict=True):
        assert values[measure].tolist() == pytest.approx(
            [row[name] for row in expected], nan_ok=True
        )


def test_ends_are_exclusive_and_what_two_chunks_share_counts_twice_in_the_divisor() -> None:
    # Gold is 0 to 10; the chunks are 0 to 8 and 4 to 12, and one of another document.
    asked = Question("q", "?", "", ("d",), "s", "ad-hoc", gold_spans=(Span("d", 0, 10, "x"),))
    documents = [Document(name, "x" * 20, "s", name, True) for name in ("d", "e")]
    chunks = [Chunk("d", 0, 8), Chunk("d", 4, 12), Chunk("e", 0, 4), Chunk("d", 10, 14)]
    run = {"q": chunks_in_order(chunks)}
    covered = span_gold([asked], documents).rankings(run)

    def value(name: str) -> float:
        found = evaluate({}, gold_of([asked]), [parse_measure(name)], covered).values
        return float(found[name][0])

    assert value("span_recall@1") == 0.8
    assert (value("span_precision@2"), value("span_precision@3")) == (10 / 16, 10 / 20)
    assert value("span_iou@1") == 8 / (8 + 2)
    assert value("span_precision@4") == 10 / 24
    # How the index was cut is not known.
    assert math.isnan(value("span_recall"))


def test_the_library_ranks_chunks_and_their_documents() -> None:
    texts = {"bees.md": "Bees dance. " * 9 + "They make honey. " * 9, "wasps.md": "Wasps. " * 30}
    asked = [{"question": "Who makes honey?", "documents": ["bees.md"]}]
    benchmark = build(texts, asked, "en")
    span = Span("bees.md", 108, 124, "They make honey.")
    questions = [replace(each, gold_spans=(span,)) for each in benchmark.questions]
    benchmark = replace(benchmark, questions=questions)
    cut = ["chunking=characters", "chunking.size=60"]
    index = benchmark.index("bm25", *cut)
    [ranking] = index.chunks(benchmark.questions).values()
    # The first windows do not have a word of the question.
    found = [hit.chunk for hit in ranking]
    assert all(chunk.doc_id == "bees.md" and (chunk.end or 0) > 108 for chunk in found)
    scores = benchmark.evaluate(index.chunks(questions), ["span_recall@5", "ndcg@10"])
    assert scores.means.to_dict() == {"span_recall@5": 1.0, "ndcg@10": 1.0}
    assert [hit.doc_id for hit in index.run(questions)[questions[0].question_id]] == ["bees.md"]


def chroma(folder: Path) -> tuple[list[Document], list[Question]]:
    """Three of the five corpora of Chroma's evaluation, and their questions."""
    paths = sorted((folder / "corpora").glob("*.md"))
    documents = [Document(p.stem, p.read_text("utf-8"), "s", p.stem, True) for p in paths]
    questions = []
    with (folder / "questions.csv").open(encoding="utf-8", newline="") as stream:
        for number, row in enumerate(csv.DictReader(stream)):
            name = row["corpus_id"]
            spans = tuple(
                Span(name, each["start_index"], each["end_index"], each["content"])
                for each in json.loads(row["references"])
            )
            key, text = f"q{number}", row["question"]
            asked = Question(key, text, "", (name,), "s", "ad-hoc", gold_spans=spans)
            questions.append(asked)
    return documents, questions


@pytest.mark.parametrize(("size", "overlap"), [(1200, 0), (800, 400)])
def test_chromas_questions_give_what_sets_of_characters_give(
    shared_data: Path, size: int, overlap: int
) -> None:
    documents, questions = chroma(shared_data / "chunking")
    texts = {document.doc_id: document.content for document in documents}
    for question in questions:
        for span in question.gold_spans:
            assert texts[span.doc_id][span.start : span.end] == span.quotation
    chunking = Characters(size, overlap)
    every = [Chunk(name, *r) for name, text in texts.items() for r in chunking.ranges(text)]
    run, expected = {}, []
    for number, question in enumerate(questions):
        found = random.Random(number).sample(every, 5)
        run[question.question_id] = chunks_in_order(found)
        expected.append(oracle(question.gold_spans, found, 5, 0))
    covered = span_gold(questions, documents, chunking.ranges).rankings(run)
    measures = [parse_measure(f"{name}@5") for name in NAMES]
    values = evaluate({}, gold_of(questions), measures, covered).values
    for name in NAMES:
        ours = values[f"{name}@5"].tolist()
        assert ours == pytest.approx([row[name] for row in expected])
    assert all(covered.touching > 0)


@pytest.mark.parametrize("retriever", ["bm25", pytest.param("wordllama", marks=pytest.mark.slow)])
@pytest.mark.parametrize("chunking", ["characters", "passages", "sentences", "tokens"])
def test_the_table_of_chunkings_in_the_docs_is_what_comes_out(
    shared_data: Path, chunking: str, retriever: str
) -> None:
    text = (ROOT / "docs/retrievers.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| `{chunking}` \| `{retriever}` \| (.*) \|$", text, re.MULTILINE)
    assert row
    recall, _, _, precision, _ = row[1].split(" | ")
    documents, questions = chroma(shared_data / "chunking")
    benchmark = Benchmark(questions, documents, "en")
    run = benchmark.index(retriever, f"chunking={chunking}").chunks(questions)
    means = benchmark.evaluate(run, ["span_recall@5", "span_precision@5"]).means
    assert [f"{mean:.3f}".lstrip("0") for mean in means] == [recall, precision]
