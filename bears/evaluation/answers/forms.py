"""Read the files in which systems give their answers; their content is not trusted.

The form of a file is detected from its content, never from its name, but for .xlsx.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bears.errors import FormatError
from bears.files.intake.files import json_value, lines, numbered_lines
from bears.files.spreadsheet import read_named
from bears.files.traces import trace_of
from bears.trace import Trace

IDS = ("question_id", "eval_id")
NAMES = (*IDS, "question")
TEXTS = ("predicted_answer", "answer")
EVIDENCE = ("predicted_evidence", "evidence")
NAMES_OF = {"question_id": NAMES, "answer": TEXTS, "evidence": EVIDENCE}
TRACE = ("searches", "calls", "shown", "cut", "left_out", "cited_not_given", "given_up", "asked")
OURS = ("confidence", "citations", "refused")
"""Further names of a trace, which may mean something else in other files."""
FORMS = (
    "JSON Lines or a JSON list of {question_id, answer, evidence: [doc_id or paragraph]}, where "
    "evidence may be absent; QASPER's {question_id, predicted_answer, predicted_evidence}; "
    "{results: [such a list]}; one object {question_id: answer}; or CSV or .xlsx with the columns "
    "question_id, answer and, as a JSON list, evidence. Without ids, question is the text"
)


class Given(NamedTuple):
    """The answer of a file to one question.

    Args:
        where: the file and the line or record.
        by_text: whether the file names the question by its text.
        trace: with that text for the question's id, and documents or their texts as evidence.
        traced: whether the file says what the system did.
    """

    where: str
    by_text: bool
    trace: Trace
    traced: bool


def read_answers(path: Path, whole: bool = False) -> Iterator[Given]:
    """Yield the answers of a file in any of `FORMS`, in its order; other fields are ignored.

    An answer may be null, and its ``error`` may say why.

    Args:
        whole: read everything that a trace has; other people's fields may have its names.

    Raises:
        FormatError: the file has no known form, or a line or record is malformed.
    """
    where = ""
    for where, row in _rows(path):
        yield _given(row, f"{path}, {where}", whole)
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


def _given(row: Any, where: str, whole: bool) -> Given:
    if not isinstance(row, Mapping):
        raise FormatError(f"{where}: expected an object, found {row!r:.40}")
    traced = not row.keys().isdisjoint(TRACE)
    more = (*TRACE, *OURS) if whole and traced else ()
    own = {name: row[name] for name in more if row.get(name) is not None}
    for name, names in NAMES_OF.items():
        if found := [each for each in names if each in row]:
            own[name] = row[found[0]]
        elif name == "question_id" or (name == "answer" and not more):
            raise FormatError(f"{where}: {name}: Field required, such as {names[0]}")
    # The Korean task numbers its questions. In Python, true would be the number 1.
    if type(own["question_id"]) is int:
        own["question_id"] = str(own["question_id"])
    if row.get("error"):
        own["error"] = str(row["error"])
    return Given(where, not {*IDS} & row.keys(), trace_of(own, where), traced)
