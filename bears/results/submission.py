"""Reading a submission of any known form: hostile input, so nothing in it is believed."""

import math
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bears.errors import FormatError
from bears.files.intake.files import decoded, numbered_lines, read_whole
from bears.files.intake.json_text import json_value, lines
from bears.files.shown import one_line
from bears.files.trec import read_table

LONGEST_ID = 500
"""Characters that an id may have; a longer one is no id."""
LONGEST_LIST = 10_000
"""Documents that one list may have."""


@dataclass(frozen=True, slots=True)
class SubmittedRanking:
    """One question's list.

    Args:
        question: how the file names its question: an id, or (PandaChat) the text of the query.
        doc_ids: as submitted, best first; may repeat a document.
        gold: what the file says is the gold, never used for scoring.
    """

    question: str
    doc_ids: tuple[str, ...]
    gold: str = ""


@dataclass(frozen=True, slots=True)
class Submission:
    """A file of results.

    Args:
        form: ``pandachat``, ``science-ko``, ``bears`` or ``trec``.
        system: what the file calls its system; may be empty.
        rows: one for each line or record, in the file's order; may repeat a question.
        by_text: rows name questions by their text.
        scenario: PandaChat's ``eval_scenario``.
        seconds_per_question: as stated by the file; None where it states none.
        remarks: why one may doubt what it says.
    """

    form: str
    system: str
    rows: tuple[SubmittedRanking, ...]
    by_text: bool = False
    scenario: str = ""
    seconds_per_question: float | None = None
    remarks: tuple[str, ...] = ()


def read_submission(path: Path) -> Submission:
    """Read a submission, whose form is found out from its content.

    Args:
        path: a regular file.

    Raises:
        FormatError: it is absent, too large, of no known form, or has a malformed record; the
            message names the record.
    """
    try:
        return _READERS[_form_of(path)](path)
    except FormatError as error:
        if str(error).startswith(str(path)):
            raise
        raise FormatError(f"{path}: {error}") from None


def _form_of(path: Path) -> str:
    content = read_whole(path).removeprefix(BOM_UTF8).lstrip()
    if content[:1] == b"[":
        return "bears"
    if content[:1] != b"{":
        return "trec"
    # Within a text of JSON a quotation mark has a backslash before it, so these are whole words.
    if b'"topk"' in content.partition(b"\n")[0]:
        return "science-ko"
    return "pandachat" if b'"df"' in content else "bears"


def _pandachat(path: Path) -> Submission:
    whole = json_value(path, nan="float")
    rows = whole.get("df") if isinstance(whole, dict) else None
    if not isinstance(rows, list):
        raise FormatError(f"{path}: expected an object with a list `df`")
    return Submission(
        form="pandachat",
        system=_label(whole, "system"),
        rows=tuple(_pandachat_row(row, f"df, record {i}") for i, row in enumerate(rows, start=1)),
        by_text=True,
        scenario=_label(whole, "eval_scenario"),
        seconds_per_question=_seconds(whole.get("time_per_question")),
    )


def _pandachat_row(row: Any, where: str) -> SubmittedRanking:
    query = _text(_field(row, "query", where), f"{where}, query")
    sources = _ids(_field(row, "sources", where), f"{where}, sources")
    gold = row.get("document")
    return SubmittedRanking(query, sources, gold if isinstance(gold, str) else "")


def _science_ko(path: Path) -> Submission:
    rows = [
        _row(row, f"line {number}", "eval_id", "topk")
        for number, row in lines(path, nan="float", blank=True)
    ]
    return Submission("science-ko", "", tuple(rows))


def _bears(path: Path) -> Submission:
    """``{"system": …, "results": [{"question_id": …, "doc_ids": […]}]}``.

    Also the list alone, or an object from question_id to doc_ids.
    """
    whole = json_value(path, nan="float")
    described = whole if isinstance(whole, dict) and "results" in whole else {}
    results = described.get("results", whole)
    if isinstance(results, dict):
        lead = "" if described else "no `results`, so all its names are questions: "
        rows = [
            SubmittedRanking(
                _id(question, "question_id"), _ids(ids, f"{lead}question {one_line(question)}")
            )
            for question, ids in results.items()
        ]
    elif isinstance(results, list):
        rows = [
            _row(row, f"record {number}", "question_id", "doc_ids")
            for number, row in enumerate(results, start=1)
        ]
    else:
        raise FormatError(f"{path}: expected a list of records or an object")
    seconds = _seconds(described.get("seconds_per_question"))
    return Submission(
        "bears", _label(described, "system"), tuple(rows), seconds_per_question=seconds
    )


def _row(row: Any, where: str, question: str, documents: str) -> SubmittedRanking:
    """A record with these two fields."""
    question_id = _id(_field(row, question, where), f"{where}, {question}")
    return SubmittedRanking(
        question_id, _ids(_field(row, documents, where), f"{where}, {documents}")
    )


def _trec(path: Path) -> Submission:
    run = read_table(path, None)
    first = next((line for _, line in numbered_lines(path)), b"")
    words = decoded(first, f"{path}, line 1").split()
    rows = [
        SubmittedRanking(q, tuple(hit.doc_id for hit in ranking))
        for q, ranking in run.rankings().items()
    ]
    tag = words[5] if len(words) == 6 else ""
    return Submission("trec", tag, tuple(rows), remarks=run.remarks)


_READERS: dict[str, Callable[[Path], Submission]] = {
    "pandachat": _pandachat,
    "science-ko": _science_ko,
    "bears": _bears,
    "trec": _trec,
}


def _field(row: Any, name: str, where: str) -> Any:
    if not isinstance(row, dict):
        raise FormatError(f"{where}: expected an object, found {type(row).__name__}")
    if name not in row:
        raise FormatError(f"{where}: lacks {name}")
    return row[name]


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise FormatError(f"{where}: expected a text, found {type(value).__name__}")
    return value


def _label(whole: Mapping[str, Any], name: str) -> str:
    """What the file calls something; it may not say."""
    value = whole.get(name)
    return "" if value is None else _short(value, name)


def _short(value: Any, where: str) -> str:
    text = _text(value, where)
    if len(text) > LONGEST_ID:
        raise FormatError(f"{where}: {len(text)} characters; at most {LONGEST_ID} are accepted")
    return text


def _id(value: Any, where: str) -> str:
    # The Korean task numbers its questions; true would be the number 1 in Python.
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    word = _short(text, where)
    if not word.strip():
        raise FormatError(f"{where}: an empty id")
    return word


def _ids(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise FormatError(f"{where}: expected a list, found {type(value).__name__}")
    if len(value) > LONGEST_LIST:
        raise FormatError(f"{where}: {len(value)} documents; at most {LONGEST_LIST} are accepted")
    return tuple(_id(item, where) for item in value)


def _seconds(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormatError(f"time per question: expected a number, found {type(value).__name__}")
    try:
        seconds = float(value)
    except OverflowError:
        seconds = math.inf
    if not 0 <= seconds < math.inf:
        raise FormatError(f"time per question: {seconds}; expected seconds, finite and from 0")
    return abs(seconds)
