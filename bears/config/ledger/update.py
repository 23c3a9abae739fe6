"""Read decisions from a table that a person filled in, and add entries to a ledger's file."""

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bears.config import read_ledger, write_yaml
from bears.config.ledger.entries import Ledger, PairDecision
from bears.config.typed import parse
from bears.errors import ConfigurationError, FormatError
from bears.files.lock import locked_folder
from bears.files.records import to_line
from bears.files.spreadsheet import read_named

Row = dict[str, str]


def read_table(path: Path, needed: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """Yield the place and the content of each row with a ``decision``.

    Raises:
        FormatError: the file is missing or malformed, or lacks one of the columns ``needed``.
    """
    header, rows = read_named(path, short=True)
    if missing := [name for name in needed if name not in header]:
        raise FormatError(f"{path} lacks {', '.join(missing)}")
    for number, (_, row) in enumerate(rows, start=2):
        if decision := row["decision"].strip().lower():
            yield f"{path}, row {number}", {**row, "decision": decision}


def read_judgements(
    path: Path, questions: Container[str], documents: Container[str]
) -> list[PairDecision]:
    """Return the decisions of the rows that name a document, each once.

    Args:
        path: a table with the columns ``record_id`` (of the question), ``doc_id``, ``decision``,
            ``reason`` and ``author``. A row with an ``end`` is about a chunk, and has the chunk's
            text under ``document``.
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
        text = row.get("document", "")
        if row.get("end") and text.strip():
            value["quotation"] = text
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


class OpenLedger:
    """A ledger's file while no other process changes it.

    Args:
        path: of the file; `add` creates it if it is missing.

    Raises:
        ConfigurationError: the file is not a ledger.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._content = path, read_ledger(path)
        self.decisions = parse(Ledger, self._content, str(path))

    def add(self, part: str, entries: Sequence[Mapping[str, Any]], same: Sequence[str]) -> None:
        """Add entries; one replaces an earlier one that has the same values under ``same``.

        Entries are sorted, so the result does not depend on the order of additions. The file is
        changed whole or not at all.

        Args:
            part: replacements, edits, reviews, judgements or labels.
            same: the fields by which an earlier entry is found.
        """
        both = [*self._content[part], *entries]
        by_place = {tuple(entry.get(name, "") for name in same): entry for entry in both}
        self._content[part] = sorted(map(dict, by_place.values()), key=to_line)
        write_yaml(self._path, self._content)


@contextmanager
def open_ledger(path: Path) -> Iterator[OpenLedger]:
    """Hold a ledger's file, so that what is compared with it is what is changed."""
    with locked_folder(path):
        yield OpenLedger(path)
