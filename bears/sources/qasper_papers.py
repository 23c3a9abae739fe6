"""The papers of QASPER in one shape, whichever of its two forms a file has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ijson
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from bears.errors import MalformedRow, SourceError
from bears.sources.parts import Parts
from bears.sources.rows import Row, check_row, opened, read_rows
from bears.types import AnswerType

FIELDS = ("id", "title", "abstract", "full_text", "qas", "figures_and_tables")


class _Answer(TypedDict):
    unanswerable: bool
    extractive_spans: list[str]
    yes_no: bool | None
    free_form_answer: str
    evidence: list[str]


class _Annotation(TypedDict):
    answer: _Answer


class _Qa(TypedDict):
    question: str
    question_id: str
    answers: list[_Annotation]


class _Section(TypedDict):
    section_name: str | None
    paragraphs: list[str]


class _Float(TypedDict):
    caption: str


class _Paper(TypedDict):
    id: str
    abstract: str
    full_text: list[_Section]
    qas: list[_Qa]
    figures_and_tables: list[_Float]


_SHAPE = TypeAdapter(_Paper)


@dataclass(frozen=True)
class Annotation:
    """An annotator's answer, and the texts that it rests on."""

    type: AnswerType
    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """A question and what every annotator answered."""

    id: str
    question: str
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True)
class Paper:
    """A paper: its paragraphs in reading order, its captions and its questions."""

    id: str
    abstract: str
    paragraphs: tuple[str, ...]
    captions: tuple[str, ...]
    questions: tuple[Asked, ...]


def papers(parts: Parts) -> Iterator[Paper]:
    """Yield the papers of the part ``papers``, one at a time.

    Raises:
        SourceError: a file is damaged.
        MalformedRow: a field does not fit, an answer is none of the four types, a paper or a
            question stands twice.
    """
    known: set[str] = set()
    for path in parts.paths["papers"]:
        for number, row in enumerate(_rows(path), start=1):
            parts.count(path, number)
            paper = _paper(row, path.name, number)
            for identifier in (paper.id, *(asked.id for asked in paper.questions)):
                if identifier in known:
                    problem = f"{identifier!r} stands in an earlier place too"
                    raise MalformedRow(path.name, number, "id", problem)
                known.add(identifier)
            yield paper


def _rows(path: Path) -> Iterator[Row]:
    if not _keyed(path):
        yield from read_rows(path)
        return
    number = 0
    with opened(path) as stream:
        try:
            for number, (key, value) in enumerate(ijson.kvitems(stream, ""), start=1):
                if not isinstance(value, dict):
                    raise MalformedRow(path.name, number, key, f"not a paper but {value!r:.40}")
                yield {**value, "id": key}
        except ijson.JSONError as error:
            raise SourceError(
                f"{path}: cannot be read after paper {number} ({str(error).splitlines()[0]}); "
                "it is truncated or damaged: take it again from its source"
            ) from None


def _keyed(path: Path) -> bool:
    """Whether a file is one object of papers by their ids."""
    if ".json" not in path.name or not path.stat().st_size:
        return False
    with opened(path) as stream:
        try:
            events = ijson.basic_parse(stream)
            started, first = next(events)[0], next(events)
        except (ijson.JSONError, StopIteration):
            return False
    return started == "start_map" and first[0] == "map_key" and first[1] not in FIELDS


def _paper(row: Row, file: str, number: int) -> Paper:
    plain = {**row, "figures_and_tables": row.get("figures_and_tables") or []}
    for name in ("full_text", "qas", "figures_and_tables"):
        plain[name] = _as_rows(plain.get(name), file, number, name)
    for qa in plain["qas"] or ():
        if isinstance(qa, dict):
            qa["answers"] = _as_rows(qa.get("answers"), file, number, "qas.answers")
    paper: _Paper = check_row(_SHAPE, plain, file, number)
    return Paper(
        id=paper["id"],
        abstract=paper["abstract"],
        paragraphs=tuple(text for part in paper["full_text"] for text in part["paragraphs"]),
        captions=tuple(item["caption"] for item in paper["figures_and_tables"]),
        questions=tuple(_asked(qa, file, number) for qa in paper["qas"]),
    )


def _asked(qa: _Qa, file: str, number: int) -> Asked:
    identifier = qa["question_id"]
    annotations = [_annotation(item["answer"], file, number, identifier) for item in qa["answers"]]
    return Asked(identifier, qa["question"], tuple(annotations))


def _as_rows(value: Any, file: str, number: int, name: str) -> Any:
    """A list of objects; the hub has an object of lists for it."""
    if not isinstance(value, Mapping):
        # What is no list either is named when the whole is checked.
        listed = value if isinstance(value, list) else None
        return listed and [dict(x) if isinstance(x, Mapping) else x for x in listed]
    if len({len(column) for column in value.values()}) > 1:
        lengths = {key: len(column) for key, column in value.items()}
        raise MalformedRow(file, number, name, f"its lists differ in length: {lengths}")
    return [dict(zip(value, cells, strict=True)) for cells in zip(*value.values(), strict=True)]


def _annotation(answer: _Answer, file: str, number: int, question: str) -> Annotation:
    """By the official evaluation's order: unanswerable, extractive, free form, yes or no."""
    evidence = tuple(answer["evidence"])
    if answer["unanswerable"]:
        return Annotation("unanswerable", "Unanswerable", evidence)
    if answer["extractive_spans"]:
        return Annotation("extractive", ", ".join(answer["extractive_spans"]), evidence)
    if answer["free_form_answer"]:
        return Annotation("free-form", answer["free_form_answer"], evidence)
    if answer["yes_no"] is not None:
        return Annotation("yes-no", "Yes" if answer["yes_no"] else "No", evidence)
    raise MalformedRow(file, number, "qas.answers", f"question {question} has an empty answer")
