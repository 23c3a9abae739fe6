"""Read the files in which systems give their answers; their content is not trusted.

The form of a file is detected from its content, never from its name, but for .xlsx.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

from annotated_types import MaxLen
from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from bears.errors import FormatError
from bears.files.intake.files import numbered_lines
from bears.files.intake.json_text import json_value, lines
from bears.files.records import problems_of
from bears.files.spreadsheet import read_named

IDS = ("question_id", "eval_id")
NAMES = (*IDS, "question")
TEXTS = ("predicted_answer", "answer")
EVIDENCE = ("predicted_evidence", "evidence")
FORMS = (
    "JSON Lines or a JSON list of {question_id, answer, evidence: [doc_id or paragraph]}, where "
    "evidence may be absent; QASPER's {question_id, predicted_answer, predicted_evidence}; "
    "{results: [such a list]}; one object {question_id: answer}; or CSV or .xlsx with the columns "
    "question_id, answer and, as a JSON list, evidence. Without ids, question is the text"
)


def _id(value: Any) -> Any:
    # The Korean task numbers its questions. In Python, true would be the number 1.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _error(value: Any) -> str:
    return "" if value is None or value is False else str(value)


def _document(value: Any) -> Any:
    # A chunk counts for its document.
    return value.get("doc_id") if isinstance(value, Mapping) else value


Text = Annotated[str, MaxLen(100_000)]
Evidence = Annotated[Text, BeforeValidator(_document)]


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """The answer of a file to one question.

    Args:
        where: the file and the line or record.
        question_id: as in the file; the text of the question if the file has no id.
        answer: None if the system gave none.
        evidence: ids of documents, or their texts; None if the system names none.
        error: what went wrong, according to the system; usually empty.
        fields: all fields in the file, unchecked.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(loc_by_alias=False)

    where: str
    question_id: Annotated[str, BeforeValidator(_id), Field(validation_alias=AliasChoices(*NAMES))]
    answer: Annotated[Text | None, Field(validation_alias=AliasChoices(*TEXTS))]
    evidence: Annotated[
        Annotated[tuple[Evidence, ...], MaxLen(10_000)] | None,
        Field(validation_alias=AliasChoices(*EVIDENCE)),
    ] = None
    error: Annotated[str, BeforeValidator(_error)] = ""
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def by_text(self) -> bool:
        """Return whether the file names the question by its text."""
        return {*NAMES} & self.fields.keys() == {"question"}


_GIVEN = TypeAdapter(GivenAnswer)


def read_answers(path: Path) -> Iterator[GivenAnswer]:
    """Yield the answers of a file in any of `FORMS`, in its order; other fields are ignored.

    An answer may be null, and its ``error`` may say why.

    Raises:
        FormatError: the file has no known form, or a line or record is malformed.
    """
    where = ""
    for where, row in _rows(path):
        yield _given(row, f"{path}, {where}")
    if not where:
        raise FormatError(f"{path}: no answers; expected {FORMS}")


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    first, several = _beginning(path)
    if first.startswith(b"{") and first.endswith(b"}") and several:
        yield from ((f"line {number}", row) for number, row in lines(path, blank=True))
    elif first[:1] in (b"{", b"["):
        yield from _records(path, json_value(path))
    elif first:
        yield from _cells(path)


def _beginning(path: Path) -> tuple[bytes, bool]:
    """Return the first line that is not blank, and whether there is another one."""
    rows = filter(None, (line.strip() for _, line in numbered_lines(path)))
    return next(rows, b""), next(rows, None) is not None


def _records(path: Path, whole: Any) -> Iterator[tuple[str, Any]]:
    results = whole.get("results", whole) if isinstance(whole, Mapping) else whole
    if isinstance(results, list):
        yield from ((f"record {number}", row) for number, row in enumerate(results, start=1))
    elif not isinstance(results, Mapping):
        raise FormatError(f"{path}: not a file of answers; expected {FORMS}")
    elif results.keys() & {*IDS}:
        yield "line 1", results
    else:
        for question_id, answer in results.items():
            row = answer if isinstance(answer, Mapping) else {"answer": answer}
            yield f"question {question_id!r:.80}", {**row, "question_id": question_id}


def _cells(path: Path) -> Iterator[tuple[str, Any]]:
    header, rows = read_named(path)
    if not {*NAMES} & {*header} or not {*TEXTS} & {*header}:
        raise FormatError(f"{path}: not a file of answers; expected {FORMS}")
    for number, cells in rows:
        row: dict[str, Any] = {**cells}
        for name in row.keys() & {*EVIDENCE}:
            where = f"{path}, line {number}, {name}"
            row[name] = json_value(row[name].encode(), where) if row[name].strip() else None
        yield f"line {number}", row


def _given(row: Any, where: str) -> GivenAnswer:
    if not isinstance(row, Mapping):
        raise FormatError(f"{where}: expected an object, found {row!r:.40}")
    try:
        return _GIVEN.validate_python({**row, "where": where, "fields": row})
    except ValidationError as error:
        raise FormatError(f"{where}: {problems_of(error)}") from None
