"""The table that a person decides in: what goes out as CSV or JSON Lines, and comes back."""

from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any

from bears.config import parse
from bears.config.ledger.entries import PairDecision
from bears.errors import ConfigurationError, FormatError
from bears.files.records import read_lines, write_lines
from bears.files.spreadsheet import read_named, write_csv

Row = dict[str, str]


def write_table(path: Path, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Write CSV (safe to open in a spreadsheet) or, for ``.jsonl``, JSON Lines."""
    if path.suffix == ".jsonl":
        write_lines(path, rows)
        return
    write_csv(path, columns, ([row[name] for name in columns] for row in rows))


def read_table(path: Path, needed: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """The rows in which a person wrote a ``decision``, each after where it stands.

    Raises:
        FormatError: the file is absent or no table, a row lacks one of the columns ``needed``, or
            its decision is no word.
    """
    for number, row in _rows(path):
        where = f"{path}, row {number}"
        if missing := [name for name in needed if name not in row]:
            raise FormatError(f"{where}: lacks {', '.join(missing)}")
        if not isinstance(row["decision"] or "", str):
            raise FormatError(f"{where}: the decision is {row['decision']!r:.80}; expected a word")
        if said := (row["decision"] or "").strip():
            yield where, {**row, "decision": said}


def read_judgements(
    path: Path, questions: Container[str], documents: Container[str]
) -> list[PairDecision]:
    """The rows that name a document and have a decision, each pair once.

    Args:
        path: a table with the columns ``record_id`` (of the question), ``doc_id``, ``decision``,
            ``reason`` and ``author``.
        questions, documents: the ids that can be decided on.

    Raises:
        FormatError: as `read_table`.
        ConfigurationError: naming the row: a decision is unknown, there is no such question or
            document, or a row above decides otherwise on the pair.
    """
    found: dict[tuple[str, str], PairDecision] = {}
    for where, row in read_table(path, ("record_id", "decision", "reason", "author")):
        if not row.get("doc_id"):
            continue
        value = {name: row[name] for name in ("doc_id", "decision", "reason", "author")}
        one = parse(PairDecision, {"question_id": row["record_id"], **value}, where)
        for kind, known, name in (
            ("question", questions, one.question_id),
            ("document", documents, one.doc_id),
        ):
            if name not in known:
                raise ConfigurationError(f"{where}: the benchmark has no {kind} {name}")
        if found.setdefault(one.place, one) != one:
            raise ConfigurationError(
                f"{where}: {one.doc_id} for {one.question_id} is decided otherwise in a row above; "
                "keep one of them"
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
