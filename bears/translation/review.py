"""What a person should look at, as a table, and the decisions read back from it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bears.configuration import parse
from bears.errors import FormatError
from bears.formats.records import read_lines, to_line, write_text
from bears.language.gates import check
from bears.language.text import Text
from bears.translation.glossary import guard, restored
from bears.translation.project import Project, Review
from bears.translation.work import Resolution

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
    for (record_id, field, source), translation in found.texts.items():
        text = Text(field, source, translation, languages[record_id], project.language.name)  # type: ignore[arg-type]
        flags = [flag.message for flag in check(text, project.language, severities)]
        if flags := [*doubts.get((record_id, field), ()), *flags]:
            rows.append(_row(record_id, field, flags, source, translation))
    return rows


def write_review(path: Path, rows: Sequence[Row]) -> None:
    """Write CSV (safe to open in a spreadsheet) or, for ``.jsonl``, JSON Lines."""
    if path.suffix == ".jsonl":
        write_text(path, "".join(to_line(row) for row in rows))
        return
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: guard(cell) for name, cell in row.items()} for row in rows)
    write_text(path, text.getvalue())


def read_decisions(path: Path) -> list[Review]:
    """The rows in which a person wrote a decision.

    Raises:
        FormatError: the file is absent or lacks a column.
        ConfigurationError: a decision is unknown, or a correction has no text.
    """
    decisions = []
    for number, row in _rows(path):
        if missing := [name for name in COLUMNS[:2] + COLUMNS[5:] if name not in row]:
            raise FormatError(f"{path}, row {number}: lacks {', '.join(missing)}")
        if row["decision"]:
            names = ("record_id", "field", "decision", "text", "reason", "author")
            value = {name: row[name] for name in names}
            decisions.append(parse(Review, value, f"{path}, row {number}"))
    return decisions


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
        yield from read_lines(path)
        return
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise FormatError(f"{path}: no such file") from None
    for number, row in enumerate(csv.DictReader(io.StringIO(text)), start=2):
        cells = {str(name): restored(cell or "") for name, cell in row.items()}
        cells["decision"] = cells.get("decision", "").strip()
        yield number, cells


def as_entry(review: Review) -> dict[str, Any]:
    """A decision as an entry of the ledger, without what is empty."""
    entry = {
        "record_id": review.record_id,
        "field": review.field,
        "decision": review.decision,
        "reason": review.reason,
        "author": review.author,
        "text": review.text,
    }
    return {name: value for name, value in entry.items() if value}
