"""The table that a person writes decisions into, as CSV or JSON Lines."""

from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any

from bears.config import parse
from bears.config.ledger.entries import PairDecision
from bears.errors import ConfigurationError, FormatError
from bears.files.records import read_lines, write_lines
from bears.files.spreadsheet import read_named, write_csv
from bears.types import document_of

Row = dict[str, str]


def write_table(path: Path, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Write CSV (safe to open in a spreadsheet) or, for ``.jsonl``, JSON Lines."""
    if path.suffix == ".jsonl":
        write_lines(path, rows)
        return
    write_csv(path, columns, ([row[name] for name in columns] for row in rows))


def read_table(path: Path, needed: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """Yield the place and the content of each row with a ``decision``.

    Raises:
        FormatError: the file is missing or malformed, a row lacks one of the columns ``needed``,
            or its decision is not a word.
    """
    for number, row in _rows(path):
        where = f"{path}, row {number}"
        if missing := [name for name in needed if name not in row]:
            raise FormatError(f"{where}: lacks {', '.join(missing)}")
        if not isinstance(row["decision"] or "", str):
            raise FormatError(f"{where}: the decision is {row['decision']!r:.80}; expected a word")
        if decision := (row["decision"] or "").strip():
            yield where, {**row, "decision": decision}


def read_judgements(
    path: Path, questions: Container[str], documents: Container[str]
) -> list[PairDecision]:
    """Return the decisions of the rows that name a document or a chunk, each once.

    Args:
        path: a table with the columns ``record_id`` (of the question), ``doc_id``, ``decision``,
            ``reason`` and ``author``; a decision about a chunk also needs the chunk's text, under
            ``document`` or ``translation``.
        questions, documents: the ids that can be decided on.

    Raises:
        FormatError: `read_table` refuses the file.
        ConfigurationError: naming the row: its decision, question or document is unknown, or it
            contradicts a row above.
    """
    found: dict[tuple[str, str, str], PairDecision] = {}
    for where, row in read_table(path, ("record_id", "decision", "reason", "author")):
        if not row.get("doc_id"):
            continue
        value = {name: row[name] for name in ("doc_id", "decision", "reason", "author")}
        if value["doc_id"] not in documents and (doc_id := document_of(value["doc_id"])):
            text = row.get("document") or row.get("translation") or ""
            value |= {"doc_id": doc_id, "quotation": text} if text.strip() else {}
        judgement = parse(PairDecision, {"question_id": row["record_id"], **value}, where)
        for kind, known, name in (
            ("question", questions, judgement.question_id),
            ("document", documents, judgement.doc_id),
        ):
            if name not in known:
                raise ConfigurationError(f"{where}: the benchmark has no {kind} {name}")
        if found.setdefault(judgement.place, judgement) != judgement:
            raise ConfigurationError(
                f"{where}: a row above has another decision about {judgement.doc_id} for "
                f"{judgement.question_id}; keep one of them"
            )
    return list(found.values())


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if path.suffix == ".jsonl":
        for number, row in read_lines(path):
            if not isinstance(row, dict):
                raise FormatError(f"{path}, row {number}: expected an object")
            yield number, row
        return
    _, rows = read_named(path, short=True)
    yield from enumerate((row for _, row in rows), start=2)
