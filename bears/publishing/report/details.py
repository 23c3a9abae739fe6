"""Prepare the questions that a reader can open: as many as fit, the most useful first."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from bears.answers.judging.ruling import UNCITED
from bears.answers.judging.tables import items_in
from bears.identity import path_of
from bears.publishing.report.benchmark import OTHER, ReportedBenchmark, cut
from bears.results.system import System
from bears.trace import Trace
from bears.types import Chunk, ChunkRanking, Question

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
) -> tuple[set[Chunk], set[Chunk]]:
    """Return the gold, and all chunks that are shown."""
    gold, shown = set[Chunk](), set[Chunk]()
    for question in questions:
        gold.update(question.gold_parts)
        shown.update(_chunks(question, systems, top))
    return gold, shown


def details(
    benchmark: ReportedBenchmark,
    systems: Sequence[System],
    measures: Sequence[str],
    order: Sequence[int],
    top: int,
) -> tuple[dict[str, Any], int]:
    """Return what the script shows, and how many questions are too large to be in it.

    Questions are in the benchmark's order. Each chunk is there once; a question refers to it by
    its position.
    """
    documents: dict[Chunk, dict[str, Any]] = {}
    numbers: dict[Chunk, int] = {}
    chosen: dict[int, dict[str, Any]] = {}
    size = too_large = 0
    for position in order:
        question = benchmark.questions[position]
        chunks = _chunks(question, systems, top)
        added = {each: _document(benchmark, each) for each in chunks if each not in numbers}
        here = dict(zip(added, range(len(numbers), len(numbers) + len(added)), strict=True))
        here |= {each: numbers[each] for each in chunks if each in numbers}
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


def _chunks(question: Question, systems: Sequence[System], top: int) -> dict[Chunk, None]:
    """Return the chunks that an opened question shows, in order, each once."""
    found = (_ranking(system, question.question_id)[:top] for system in systems)
    shown = (hit.chunk for ranking in found for hit in ranking)
    return dict.fromkeys((*question.gold_parts, *shown))


def _ranking(system: System, question_id: str) -> ChunkRanking:
    trace = system.traces.get(question_id)
    return trace.ranking if trace else ()


def _document(benchmark: ReportedBenchmark, chunk: Chunk) -> dict[str, Any]:
    text, source = benchmark.texts.get(chunk, ("", ""))
    row = {"id": chunk.name, "source": source, "text": text}
    if chunk.end is not None:
        return row | {"name": path_of(chunk.doc_id)}
    original = benchmark.original_documents.get(chunk.doc_id, "")
    return row | ({"original": original} if original not in ("", text) else {})


def _entry(
    question: Question,
    position: int,
    benchmark: ReportedBenchmark,
    systems: Sequence[System],
    measures: Sequence[str],
    numbers: Mapping[Chunk, int],
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
        "gold": [numbers[chunk] for chunk in question.gold_parts],
        "values": [[_value(system, name, position) for name in measures] for system in systems],
        "top": [
            [
                [numbers[hit.chunk], _rounded(hit.score), question.answered_by(hit.chunk)]
                for hit in ranking[:top]
            ]
            for ranking in (_ranking(system, question_id) for system in systems)
        ],
        "places": [[place.get(chunk.doc_id) for chunk in question.gold_parts] for place in places],
    }
    further = {
        "turns": [[turn.role, turn.content] for turn in question.turns],
        "answers": sorted({answer.text for answer in question.answers}),
        "aliases": benchmark.aliases.get(question_id, []),
        "original": original if original != question.question else "",
        "original_answer": answer if answer != question.gold_answer else "",
        "unjudged": not question.judged,
        "findings": benchmark.findings_of(question),
        "judged": benchmark.judgements.get(question_id, []),
        "given": _given(systems, question_id),
        "steps": {
            at: _steps(trace, question, top)
            for at, system in enumerate(systems)
            for trace in [system.traces.get(question_id)]
            if trace and len(trace.searches or ()) > 1
        },
    }
    return entry | {name: value for name, value in further.items() if value}


def _steps(trace: Trace, question: Question, top: int) -> dict[str, Any]:
    """Return the searches of a trace, with their first passages and all right ones, and calls."""
    searches = []
    for search in trace.searches or ():
        found = [[hit.chunk.name, question.answered_by(hit.chunk)] for hit in search.passages]
        shown = [*found[:top], *(each for each in found[top:] if each[1])]
        searches.append([cut(search.query, OTHER), search.seconds, shown])
    return {"searches": searches, "calls": [asdict(call) for call in trace.calls]}


def _given(systems: Sequence[System], question_id: str) -> list[dict[str, Any]]:
    """Return each system's answer, with its judgement if there is one."""
    given = []
    for number, system in enumerate(systems):
        trace = system.traces.get(question_id)
        found = {**system.judged.get(question_id, {}), "answer": trace.answer if trace else ""}
        names = ("answer", "verdict", "reason", "cause")
        shown = {name: found[name] for name in names if found.get(name)}
        if items := [_item(each) for each in items_in(found) if each["name"]]:
            shown["items"] = items
        if shown:
            given.append({"system": number, **shown})
    return given


def _item(item: Mapping[str, str]) -> list[str]:
    """Return the text of a graded item, its verdict, and what else is known of it."""
    text = item.get("nugget") or item.get("sentence") or item["name"]
    return [text, item["note"] if item["note"] == UNCITED else item["verdict"], item["note"]]


def _value(system: System, measure: str, position: int) -> float | None:
    value = system.values[measure].iloc[position] if measure in system.values else math.nan
    return None if math.isnan(value) else _rounded(float(value))


def _rounded(number: float) -> float:
    return float(f"{number:.4g}")


def _bytes(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())
