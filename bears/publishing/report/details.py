"""Prepare the questions that a reader can open: as many as fit, the most useful first."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bears.publishing.report.benchmark import ReportedBenchmark
from bears.results.system import System
from bears.types import Question, document_of

BYTES = 1_500_000
"""The size of all questions together on the page."""
MOST = BYTES // 10
"""The size of one question; a question with a hundred right documents would fill the page."""
CANDIDATES = 3000
"""How many questions are tried. People do not read a longer list."""


def candidates(questions: int, systems: Sequence[System], measure: str) -> list[int]:
    """Return the positions of questions to show, those on which systems differ most first."""
    values = [system.values[measure] for system in systems if measure in system.values]
    if not values:
        return list(range(questions))[:CANDIDATES]
    matrix = np.nan_to_num(np.array(values))
    spread = matrix.max(axis=0) - matrix.min(axis=0)
    telling = np.lexsort((np.arange(questions), matrix.mean(axis=0), -spread))
    return [int(position) for position in telling[:CANDIDATES]]


def needed(
    questions: Iterable[Question], systems: Sequence[System], top: int
) -> tuple[set[str], set[str]]:
    """Return the ids of the gold, and those of all documents and chunks that are shown."""
    gold, shown = set[str](), set[str]()
    for question in questions:
        gold.update(question.gold_parts)
        shown.update(_doc_ids(question, systems, top))
    return gold, shown


def details(
    benchmark: ReportedBenchmark,
    systems: Sequence[System],
    measures: Sequence[str],
    order: Sequence[int],
    top: int,
) -> tuple[dict[str, Any], int]:
    """Return what the script shows, and how many questions are too large to be in it.

    Questions are in the benchmark's order. Each document is there once; a question refers to it by
    its position.
    """
    documents: dict[str, dict[str, Any]] = {}
    numbers: dict[str, int] = {}
    chosen: dict[int, dict[str, Any]] = {}
    size = too_large = 0
    for position in order:
        question = benchmark.questions[position]
        ids = _doc_ids(question, systems, top)
        added = {doc_id: _document(benchmark, doc_id) for doc_id in ids if doc_id not in numbers}
        here = dict(zip(added, range(len(numbers), len(numbers) + len(added)), strict=True))
        here |= {doc_id: numbers[doc_id] for doc_id in ids if doc_id in numbers}
        entry = _entry(question, position, benchmark, systems, measures, here, top)
        own = _bytes(entry) + sum(map(_bytes, added.values()))
        if own > MOST:
            too_large += 1
            continue
        if size + own > BYTES:
            break
        size += own
        documents |= added
        numbers |= here
        chosen[position] = entry
    data = {
        "systems": [system.name for system in systems],
        "measures": measures,
        "language": benchmark.language,
        "languages": benchmark.languages,
        "top": top,
        "documents": list(documents.values()),
        "questions": [chosen[position] for position in sorted(chosen)],
    }
    return data, too_large


def _doc_ids(question: Question, systems: Sequence[System], top: int) -> dict[str, None]:
    """Return the documents and chunks that an opened question shows, in order, each once."""
    found = (system.passages.get(question.question_id, ())[:top] for system in systems)
    shown = (hit.doc_id for ranking in found for hit in ranking)
    return dict.fromkeys((*question.gold_parts, *shown))


def _document(benchmark: ReportedBenchmark, doc_id: str) -> dict[str, Any]:
    text, source = benchmark.documents.get(doc_id, ("", ""))
    original = benchmark.original_documents.get(doc_id, "")
    row = {"id": doc_id, "source": source, "text": text}
    # The id of a passage names its document.
    row |= {"name": document_of(doc_id)} if document_of(doc_id) != doc_id else {}
    return row | ({"original": original} if original not in ("", text) else {})


def _entry(
    question: Question,
    position: int,
    benchmark: ReportedBenchmark,
    systems: Sequence[System],
    measures: Sequence[str],
    numbers: Mapping[str, int],
    top: int,
) -> dict[str, Any]:
    question_id = question.question_id
    rankings = [system.rankings.get(question_id, ()) for system in systems]
    places = [{hit.doc_id: at for at, hit in enumerate(ranking, start=1)} for ranking in rankings]
    original, answer = benchmark.originals.get(question_id, ("", ""))
    entry: dict[str, Any] = {
        "id": question_id,
        "question": question.question,
        "answer": question.gold_answer,
        "type": question.question_type,
        "source": question.source_dataset,
        "gold": [numbers[name] for name in question.gold_parts],
        "values": [[_value(system, name, position) for name in measures] for system in systems],
        "top": [
            [
                [numbers[hit.doc_id], _rounded(hit.score), question.answered_by(hit.doc_id)]
                for hit in ranking[:top]
            ]
            for ranking in (system.passages.get(question_id, ()) for system in systems)
        ],
        "places": [
            [place.get(document_of(name)) for name in question.gold_parts] for place in places
        ],
    }
    further = {
        "turns": [[turn.role, turn.content] for turn in question.turns],
        "answers": sorted({answer.text for answer in question.answers}),
        "aliases": benchmark.aliases.get(question_id, []),
        "original": original if original != question.question else "",
        "original_answer": answer if answer != question.gold_answer else "",
        "unjudged": not question.judged,
        "findings": benchmark.findings_of(question),
        "given": _given(systems, question_id),
    }
    return entry | {name: value for name, value in further.items() if value}


def _given(systems: Sequence[System], question_id: str) -> list[dict[str, Any]]:
    """Return each system's answer with its judgement."""
    shown = ("answer", "verdict", "reason", "cause")
    return [
        {"system": number, **{name: row[name] for name in shown if row.get(name)}}
        for number, system in enumerate(systems)
        if (row := system.answers.get(question_id))
    ]


def _value(system: System, measure: str, position: int) -> float | None:
    value = system.values[measure].iloc[position] if measure in system.values else math.nan
    return None if math.isnan(value) else _rounded(float(value))


def _rounded(number: float) -> float:
    return float(f"{number:.4g}")


def _bytes(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())
