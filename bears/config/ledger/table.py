"""The table that a person writes decisions into."""

from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from bears.config import parse
from bears.config.ledger.entries import PairDecision
from bears.errors import ConfigurationError, FormatError
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
