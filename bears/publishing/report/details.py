"""Every question as the page opens it: as many as a page can hold, the most telling ones first."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bears.publishing.report.benchmark import Benchmark
from bears.publishing.report.recall import gold_places
from bears.results.system import System
from bears.types import Question

BYTES = 1_500_000
"""What all questions together may take of the page."""
MOST = BYTES // 10
"""What one of them may; a question with a hundred right documents would leave no other any room."""
ASKED = 3000
"""Questions beyond this are not tried; a list of more is not read by people."""


@dataclass(frozen=True)
class Details:
    """What the page's script is given, and how many questions are too large to be in it."""

    data: Mapping[str, Any]
    shown: int
    too_large: int


def candidates(questions: int, systems: Sequence[System], measure: str) -> list[int]:
    """Positions of the questions to show: those on which the systems differ most come first."""
    values = [system.values[measure] for system in systems if measure in system.values]
    if not values:
        return list(range(questions))[:ASKED]
    matrix = np.nan_to_num(np.array(values))
    spread = matrix.max(axis=0) - matrix.min(axis=0)
    telling = np.lexsort((np.arange(questions), matrix.mean(axis=0), -spread))
    return [int(position) for position in telling[:ASKED]]


def needed(
    questions: Iterable[Question], systems: Sequence[System], top: int
) -> tuple[set[str], set[str]]:
    """doc_ids of the gold, and of all documents that are shown."""
    gold, shown = set[str](), set[str]()
    for question in questions:
        gold.update(question.gold_doc_ids)
        for system in systems:
            found = system.rankings.get(question.question_id, ())[:top]
            shown.update(hit.doc_id for hit in found)
    return gold, shown | gold


def details(
    benchmark: Benchmark,
    systems: Sequence[System],
    measures: Sequence[str],
    order: Sequence[int],
    top: int,
) -> Details:
    """What the script shows: questions in the benchmark's order, documents once each."""
    documents = _Documents(benchmark)
    chosen: dict[int, dict[str, Any]] = {}
    size = too_large = 0
    for position in order:
        question, kept = benchmark.questions[position], documents.size
        entry = _entry(question, position, benchmark, systems, measures, documents, top)
        own = _bytes(entry) + documents.size - kept
        if own > MOST:
            too_large += 1
            documents.forget(kept)
            continue
        if size + own > BYTES:
            documents.forget(kept)
            break
        size += own
        chosen[position] = entry
    data = {
        "systems": [system.name for system in systems],
        "measures": measures,
        "language": benchmark.language,
        "languages": benchmark.languages,
        "top": top,
        "documents": documents.rows,
        "questions": [chosen[position] for position in sorted(chosen)],
    }
    return Details(data, len(chosen), too_large)


class _Documents:
    """The documents that are shown, by their numbers in the page."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.rows: list[dict[str, Any]] = []
        self.size = 0
        self._benchmark = benchmark
        self._number: dict[str, int] = {}

    def number(self, doc_id: str) -> int:
        if doc_id not in self._number:
            self._number[doc_id] = len(self.rows)
            text, source = self._benchmark.documents.get(doc_id, ("", ""))
            original = self._benchmark.original_documents.get(doc_id, "")
            row = {"id": doc_id, "source": source, "text": text}
            self.rows.append(row | ({"original": original} if original not in ("", text) else {}))
            self.size += _bytes(self.rows[-1])
        return self._number[doc_id]

    def forget(self, size: int) -> None:
        """Go back to where the documents took ``size``."""
        while self.size > size:
            row = self.rows.pop()
            del self._number[row["id"]]
            self.size -= _bytes(row)


def _entry(
    question: Question,
    position: int,
    benchmark: Benchmark,
    systems: Sequence[System],
    measures: Sequence[str],
    documents: _Documents,
    top: int,
) -> dict[str, Any]:
    each = question.question_id
    rankings = [system.rankings.get(each, ()) for system in systems]
    original, answer = benchmark.originals.get(each, ("", ""))
    entry: dict[str, Any] = {
        "id": each,
        "question": question.question,
        "answer": question.gold_answer,
        "type": question.question_type,
        "source": question.source_dataset,
        "gold": [documents.number(doc_id) for doc_id in question.gold_doc_ids],
        "values": [[_value(system, name, position) for name in measures] for system in systems],
        "top": [
            [[documents.number(hit.doc_id), _rounded(hit.score)] for hit in ranking[:top]]
            for ranking in rankings
        ],
        "places": [gold_places(ranking, question) for ranking in rankings],
    }
    further = {
        "turns": [[turn.role, turn.content] for turn in question.turns],
        "answers": sorted({answer.text for answer in question.answers}),
        "aliases": benchmark.aliases.get(each, []),
        "original": original if original != question.question else "",
        "original_answer": answer if answer != question.gold_answer else "",
        "unjudged": not question.judged,
        "findings": benchmark.findings_of(question),
        "given": _given(systems, each),
    }
    return entry | {name: value for name, value in further.items() if value}


def _given(systems: Sequence[System], question_id: str) -> list[dict[str, Any]]:
    """What each system answered, and what was said of that."""
    shown = ("answer", "verdict", "reason", "cause")
    return [
        {"system": number, **{name: row[name] for name in shown if row.get(name)}}
        for number, system in enumerate(systems)
        if (row := system.answers.get(question_id))
    ]


def _value(system: System, measure: str, position: int) -> float | None:
    values = system.values.get(measure)
    if values is None or math.isnan(values.iloc[position]):
        return None
    return _rounded(float(values.iloc[position]))


def _rounded(number: float) -> float:
    return float(f"{number:.4g}")


def _bytes(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())
