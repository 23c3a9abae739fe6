"""The files in which systems give their answers: hostile input, so nothing in them is believed.

Which form a file has is found out from its content, never from its name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any
from unicodedata import combining

from annotated_types import MaxLen
from pydantic import BeforeValidator, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bears.errors import FormatError
from bears.files.intake.files import numbered_lines
from bears.files.intake.json_text import json_value, lines
from bears.files.records import problems_of
from bears.files.spreadsheet import read_named

IDS = ("question_id", "eval_id")
TEXTS = ("predicted_answer", "answer")
EVIDENCE = ("predicted_evidence", "evidence")
LONGEST = 100_000
"""Characters that an answer may have; what is longer is none."""
MARKS = 1_000
"""Combining marks that may follow one another; a normal form takes the square of them in time."""
FORMS = (
    "JSON Lines or a JSON list of {question_id, answer, evidence: [doc_id or paragraph]}, where "
    "evidence may be absent; QASPER's {question_id, predicted_answer, predicted_evidence}; "
    "{results: [such a list]}; one object {question_id: answer}; or CSV with the columns "
    "question_id, answer and, as a JSON list, evidence"
)


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """What a file says of one question.

    Args:
        where: the file and the line or record.
        question_id: as the file has it.
        answer: None where the system gave none.
        evidence: ids of documents, or their texts; None where the system names none.
        error: what the system says went wrong; mostly empty.
    """

    where: str
    question_id: str
    answer: str | None
    evidence: tuple[str, ...] | None = None
    error: str = ""


def _text(value: Any) -> Any:
    # The Korean task numbers its questions; true would be the number 1 in Python.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class _GivenRow(TypedDict):
    question_id: Annotated[str, BeforeValidator(_text)]
    answer: Annotated[str, MaxLen(LONGEST)] | None
    evidence: Annotated[list[Annotated[str, MaxLen(LONGEST)]], MaxLen(10_000)] | None


_GIVEN = TypeAdapter(_GivenRow)


def read_answers(path: Path) -> Iterator[GivenAnswer]:
    """The answers of a file of any of `FORMS`, in its order; further fields are ignored.

    An answer may be null, and an ``error`` say why.

    Raises:
        FormatError: the file is of no known form; or naming the line or record that is malformed.
    """
    return (given for given, _ in read_rows(path))


def read_rows(path: Path) -> Iterator[tuple[GivenAnswer, Mapping[str, Any]]]:
    """As `read_answers`, each with all fields that it has in the file, unchecked."""
    where = ""
    for where, row in _rows(path):
        yield _given(row, f"{path}, {where}"), row
    if not where:
        raise FormatError(f"{path}: no answers; expected {FORMS}")


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    first, further = _beginning(path)
    if first.startswith(b"{") and first.endswith(b"}") and further:
        yield from ((f"line {number}", row) for number, row in lines(path, blank=True))
    elif first[:1] in (b"{", b"["):
        yield from _records(path, json_value(path))
    elif first:
        yield from _cells(path)


def _beginning(path: Path) -> tuple[bytes, bool]:
    """The first line that is not blank, and whether there is another one."""
    rows = filter(None, (line.strip() for _, line in numbered_lines(path)))
    return next(rows, b""), next(rows, None) is not None


def _records(path: Path, whole: Any) -> Iterator[tuple[str, Any]]:
    results = whole.get("results", whole) if isinstance(whole, Mapping) else whole
    if isinstance(results, list):
        yield from ((f"record {number}", row) for number, row in enumerate(results, start=1))
    elif not isinstance(results, Mapping):
        raise FormatError(f"{path}: no file of answers; expected {FORMS}")
    elif results.keys() & {*IDS}:
        yield "line 1", results
    else:
        for question_id, said in results.items():
            row = said if isinstance(said, Mapping) else {"answer": said}
            yield f"question {question_id!r:.80}", {**row, "question_id": question_id}


def _cells(path: Path) -> Iterator[tuple[str, Any]]:
    header, rows = read_named(path)
    if not {*IDS} & {*header} or not {*TEXTS} & {*header}:
        raise FormatError(f"{path}: no file of answers; expected {FORMS}")
    for number, cells in rows:
        row: dict[str, Any] = {**cells}
        for name in row.keys() & {*EVIDENCE}:
            where = f"{path}, line {number}, {name}"
            row[name] = json_value(row[name].encode(), where) if row[name].strip() else None
        yield f"line {number}", row


def _given(row: Any, where: str) -> GivenAnswer:
    if not isinstance(row, Mapping):
        raise FormatError(f"{where}: expected an object, found {row!r:.40}")
    fields = [_field(row, names, where) for names in (IDS, TEXTS)]
    evidence = next((row[name] for name in EVIDENCE if name in row), None)
    try:
        values = dict(zip(("question_id", "answer"), fields, strict=True))
        checked = _GIVEN.validate_python({**values, "evidence": evidence}, strict=True)
    except ValidationError as error:
        raise FormatError(f"{where}: {problems_of(error)}") from None
    named = None if checked["evidence"] is None else tuple(checked["evidence"])
    if (marks := _marks(checked["answer"] or "")) > MARKS:
        raise FormatError(
            f"{where}: the answer has {marks} combining marks in a row; that is no text"
        )
    told = row.get("error")
    return GivenAnswer(
        where,
        checked["question_id"],
        checked["answer"],
        named,
        "" if told is None or told is False else str(told),
    )


def _marks(text: str) -> int:
    """The most combining marks that follow one another."""
    runs = groupby(text if len(text) > MARKS else "", lambda character: combining(character) > 0)
    return max((len(list(run)) for are_marks, run in runs if are_marks), default=0)


def _field(row: Mapping[str, Any], names: tuple[str, ...], where: str) -> Any:
    for name in names:
        if name in row:
            return row[name]
    raise FormatError(f"{where}: lacks {names[-1] if names is TEXTS else names[0]}")
