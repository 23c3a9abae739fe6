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
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bears.errors import ConfigurationError
from bears.evaluation.evaluate import evaluate, gold_of, parse_measure
from bears.evaluation.metric import span_gold
from bears.library import Benchmark, build
from bears.retrieval.chunking.tokens import Tokens
from bears.types import Chunk, ChunkRanking, Document, Question, Span, chunks_in_order
from tests.workspace import ROOT

NAMES = ["span_recall", "span_precision", "span_iou", "span_success"]
CHUNKING = Tokens(7, 3, "characters")


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


def shown(spans: Sequence[Span], chunks: Sequence[Chunk], budget: int) -> dict[str, float]:
    """METRICS.md §16: what a reader of that many characters sees, one after the other."""
    gold = {(s.doc_id, c) for s in spans for c in range(s.start, s.end)}
    every = [(chunk.doc_id, c) for chunk in chunks for c in range(chunk.start, chunk.end or 0)]
    read = every[:budget]
    seen = len(gold.intersection(read))
    return {
        "span_recall": seen / len(gold),
        "span_precision": seen / len(read) if read else 0.0,
        "span_iou": seen / (len(read) + len(gold) - seen),
        "span_success": float(seen > 0),
    }


def values_at(
    spans: Sequence[Span], chunks: Sequence[Chunk], *cutoffs: str
) -> list[dict[str, float]]:
    """The measures of a question at each cutoff."""
    asked = Question("q", "?", "", ("d0",), "s", "ad-hoc", gold_spans=tuple(spans))
    # The first question has no chunks, and the second no span.
    others = [replace(asked, question_id=key) for key in ("o", "p")]
    questions = [others[0], replace(others[1], gold_spans=()), asked]
    documents = [Document(f"d{n}", "x" * LENGTH, "s", f"d{n}", True) for n in range(3)]
    run = {key: chunks_in_order(chunks) for key in ("p", "q")}
    covered = span_gold(questions, documents).rankings(run)
    measures = [parse_measure(f"{name}@{cutoff}") for cutoff in cutoffs for name in NAMES]
    values = evaluate({}, gold_of(questions), measures, covered).values
    assert all(column[0] == 0 and math.isnan(column[1]) for column in values.values())
    return [{name: float(values[f"{name}@{each}"][2]) for name in NAMES} for each in cutoffs]


LENGTH = 40
ENDS = st.tuples(st.integers(0, 2), st.integers(0, LENGTH - 1), st.integers(1, LENGTH)).map(
    lambda found: (f"d{found[0]}", found[1], min(found[1] + found[2], LENGTH))
)
CHUNKS = st.lists(ENDS.map(lambda ends: Chunk(*ends)), unique=True, max_size=6)
SPANS = st.lists(ENDS.map(lambda ends: Span(*ends, "x")), min_size=1, max_size=4)


@given(SPANS, CHUNKS, st.integers(1, 150), st.integers(1, 150))
def test_under_a_budget_a_reader_sees_the_first_characters_of_the_chunks(
    spans: list[Span], chunks: list[Chunk], budget: int, more: int
) -> None:
    found, larger, all_of_it, whole = values_at(
        spans, chunks, f"{budget}c", f"{budget + more}c", "9999c", "6"
    )
    assert found == pytest.approx(shown(spans, chunks, budget))
    for name in ("span_recall", "span_success"):
        assert found[name] <= larger[name]
    assert all_of_it == whole
    # What two chunks share is covered once.
    assert whole["span_recall"] <= 1
    for chunk in chunks:
        length = (chunk.end or 0) - chunk.start
        [one] = values_at(spans, [chunk], f"{length}c")
        [same] = values_at(spans, [chunk, replace(chunk, end=(chunk.end or 0) + 1)], f"{length}c")
        assert one == same


def test_a_chunk_is_cut_where_the_budget_ends() -> None:
    # By hand: gold is 0 to 10 and 30 to 40; 8 + 8 characters fit, and 4 of the third chunk.
    spans = [Span("d0", 0, 10, "x"), Span("d0", 30, 40, "x")]
    chunks = [Chunk("d0", 0, 8), Chunk("d0", 4, 12), Chunk("d0", 27, 40)]
    [found] = values_at(spans, chunks, "20c")
    assert found == {
        "span_recall": 11 / 20,
        "span_precision": 11 / 20,
        "span_iou": 11 / (20 + 9),
        "span_success": 1,
    }


@pytest.mark.parametrize("name", ["ndcg@10c", "span_recall@c", "span_recall@0c", "success@4000c"])
def test_a_budget_of_characters_is_of_spans_alone(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"span_recall@Nc"):
        parse_measure(name)


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
    chunking = Tokens(size, overlap, "characters")
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


@pytest.mark.slow
@pytest.mark.parametrize("retriever", ["bm25", "wordllama"])
@pytest.mark.parametrize("chunking", ["characters", "passages", "sentences", "tokens"])
def test_the_table_of_chunkings_in_the_docs_is_what_comes_out(
    shared_data: Path, chunking: str, retriever: str
) -> None:
    text = (ROOT / "docs/retrievers.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| `{chunking}` \| `{retriever}` \| (.*) \|$", text, re.MULTILINE)
    assert row
    documents, questions = chroma(shared_data / "chunking")
    benchmark = Benchmark(questions, documents, "en")
    run = benchmark.index(retriever, f"chunking={chunking}").chunks(questions)
    tops = {key: [hit.chunk for hit in ranking] for key, ranking in run.items()}
    seen = [shown(q.gold_spans, tops[q.question_id], 4000) for q in questions]
    read = [oracle(q.gold_spans, tops[q.question_id], 5, 0)["span_recall"] for q in questions]
    lengths = [sum((c.end or 0) - c.start for c in top[:5]) for top in tops.values()]
    means = [fmean(each[name] for each in seen) for name in ("span_recall", "span_precision")]
    shares = [f"{mean:.3f}".lstrip("0") for mean in (*means, fmean(read))]
    assert row[1].split(" | ") == [*shares, f"{fmean(lengths):,.0f}"]
    ours = benchmark.evaluate(run, ["span_recall@4000c", "span_precision@4000c"]).means
    assert ours.tolist() == pytest.approx(means)
