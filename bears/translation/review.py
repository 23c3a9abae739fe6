"""What a person should look at, as a table, and the decisions read back from it."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bears.configuration import parse
from bears.errors import ConfigurationError, FormatError
from bears.formats.records import read_lines, to_line, write_csv, write_text
from bears.language.answers import preserved
from bears.language.gates import check
from bears.language.text import Text
from bears.translation.bundles import is_yes_no
from bears.translation.project import Project, Review
from bears.translation.spans import mark
from bears.translation.spreadsheet import decoded, delimiter, guard, restored
from bears.translation.work import Place, Resolution

COLUMNS = (
    "record_id",
    "field",
    "flags",
    "source",
    "translation",
    "decision",
    "text",
    "reason",
    "author",
)
"""The last four are for the person: accept, correct (with the text) or retranslate."""

LOST = "it stands in no translated gold document, though it did before"

Row = dict[str, str]


def flagged(
    project: Project,
    found: Resolution,
    failures: Iterable[Mapping[str, Any]],
    severities: Mapping[str, Any],
) -> list[Row]:
    """Every translation that a gate flags or the filling doubts, and every text without one."""
    rows = [
        _row(f["record_id"], f["field"], f["reasons"], f["text"], f["translation"])
        for f in failures
    ]
    doubts: dict[tuple[str, str], list[str]] = {}
    for doubt in found.doubts:
        doubts.setdefault((doubt.record_id, doubt.field), []).append(doubt.message)
    languages = _languages(project)
    answers = {i: (s, t) for (i, field, s), t in found.texts.items() if field == "gold_answer"}
    lost = _answers_lost(project, found)
    for (record_id, field, source), translation in found.texts.items():
        if (record_id, field) in project.work.accepted:
            continue
        given = answers.get(record_id, ()) if field == "question" else ()
        language = languages[record_id]
        text = Text(field, source, translation, language, project.language.name, given)  # type: ignore[arg-type]
        flags = [flag.message for flag in check(text, project.language, severities)]
        flags += [LOST] if field == "gold_answer" and record_id in lost else []
        if flags := [*doubts.get((record_id, field), ()), *flags]:
            rows.append(_row(record_id, field, flags, source, translation))
    return rows


def write_review(path: Path, rows: Sequence[Row]) -> None:
    """Write CSV (safe to open in a spreadsheet) or, for ``.jsonl``, JSON Lines."""
    if path.suffix == ".jsonl":
        write_text(path, "".join(to_line(row) for row in rows))
        return
    write_csv(path, COLUMNS, ([guard(row[name]) for name in COLUMNS] for row in rows))


def read_decisions(path: Path, places: Collection[Place]) -> list[Review]:
    """The rows in which a person wrote a decision.

    Args:
        path: what `write_review` wrote, with decisions.
        places: the texts that can be decided on.

    Raises:
        FormatError: the file is absent or no table, or a row lacks a column.
        ConfigurationError: naming the row: a decision is unknown, a correction has no text, or
            there is no such text.
    """
    decisions = []
    for number, row in _rows(path):
        where = f"{path}, row {number}"
        if missing := [name for name in COLUMNS[:2] + COLUMNS[5:] if name not in row]:
            raise FormatError(f"{where}: lacks {', '.join(missing)}")
        if said := (row["decision"] or "").strip():
            names = ("record_id", "field", "decision", "text", "reason", "author")
            value = {name: row[name] for name in names} | {"decision": said}
            decisions.append(_decision(value, where))
            place = (row["record_id"], row["field"])
            if place not in places:
                raise ConfigurationError(f"{where}: no text {place[1]} of {place[0]} is translated")
    return decisions


def _decision(value: Row, where: str) -> Review:
    try:
        return parse(Review, value, where)
    except ConfigurationError as error:
        message = str(error)
        raise ConfigurationError(
            message if message.startswith(where) else f"{where}: {message}"
        ) from None


def _answers_lost(project: Project, found: Resolution) -> set[str]:
    """The questions whose answer stood in a gold document before translation alone."""
    before = {d.doc_id: d.content for d in project.work.documents}
    lost = set()
    for question in project.work.questions:
        place = (question.question_id, "gold_answer", question.gold_answer)
        gold = [i for i in question.gold_doc_ids if mark(before.get(i, ""), question.gold_answer)]
        after = [found.texts.get((i, "content", before[i])) for i in gold]
        texts = [text for text in after if text is not None]
        if not gold or is_yes_no(question) or place not in found.texts or len(texts) < len(gold):
            continue
        if preserved(found.texts[place], texts, project.language) is None:
            lost.add(question.question_id)
    return lost


def _row(record_id: str, field: str, flags: Sequence[str], source: str, translation: str) -> Row:
    row = dict.fromkeys(COLUMNS, "")
    return row | {
        "record_id": record_id,
        "field": field,
        "flags": "; ".join(flags),
        "source": source,
        "translation": translation,
    }


def _languages(project: Project) -> dict[str, str]:
    work = project.work
    languages = {q.question_id: work.languages[q.source_dataset] for q in work.questions}
    return languages | {d.doc_id: work.languages[d.original_source] for d in work.documents}


def _rows(path: Path) -> Iterator[tuple[int, Row]]:
    if path.suffix == ".jsonl":
        for number, row in read_lines(path):
            if not isinstance(row, dict):
                raise FormatError(f"{path}, row {number}: expected an object")
            yield number, row
        return
    text = decoded(path)
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter(text), strict=True)
    try:
        for number, row in enumerate(table, start=2):
            if None in row:
                raise FormatError(f"{path}, row {number}: has more cells than columns")
            cells = {name: restored(cell or "") for name, cell in row.items()}
            yield number, cells
    except csv.Error as error:
        raise FormatError(f"{path}, line {table.line_num}: not valid CSV ({error})") from None


def as_entry(review: Review) -> dict[str, Any]:
    """A decision as an entry of the ledger, without what is empty."""
    entry = {
        "record_id": review.record_id,
        "field": review.field,
        "decision": review.decision,
        "reason": review.reason,
        "author": review.author,
        "text": review.text,
        "times": review.times,
    }
    return {name: value for name, value in entry.items() if value}
