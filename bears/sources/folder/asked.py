"""The questions that people wrote down beside their documents: question, answer, document."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bears.errors import SourceError
from bears.files.intake.texts import blank
from bears.files.spreadsheet import read_cells
from bears.identity import question_id
from bears.sources.folder.places import Places
from bears.sources.records import PoolQuestion

COLUMNS = ("question", "answer", "document")
SHOWN = 10
"""Rows that are told of at once."""


def questions(
    path: Path, name: str, places: Places
) -> tuple[list[PoolQuestion], list[tuple[int, str]]]:
    """Read the questions of a folder.

    A question that stands in several rows has the documents of all of them. One without a document
    is not judged.

    Args:
        path: CSV with a column ``question``, and ``answer`` and ``document`` where they are known.
            Other columns are passed over where all three are there.
        name: of the source; a question's id is the version 5 UUID of ``q:{name}:{question}`` in the
            DNS namespace.
        places: where the documents are found.

    Returns:
        The questions, and what there is to say of a line.

    Raises:
        FormatError: it is no CSV file.
        SourceError: naming the rows: a question is empty, has two answers, or names a document
            that nobody can find.
    """
    found: dict[str, PoolQuestion] = {}
    remarks: list[tuple[int, str]] = []
    wrong: list[str] = []
    header, rows = _table(path)
    if others := [column for column in header if column not in COLUMNS]:
        remarks.append((1, f"columns that are passed over: {', '.join(others)}"))
    for line, cells in rows:
        row = dict(zip(header, cells, strict=True))
        question, answer, said = (row.get(column, "").strip() for column in COLUMNS)
        try:
            known = found.get(question) or _new(question, name)
            if answer and known.answer not in ("", answer):
                raise ValueError(f"an earlier row answers {known.answer!r:.80}")
            known = replace(known, answer=answer or known.answer)
            if said:
                meant = places.find(said, answer)
                gold = {**dict(known.gold), **dict.fromkeys(meant.pieces, 1)}
                known = replace(known, gold=tuple(gold.items()), judged=True)
                remarks += [(line, meant.remark)] if meant.remark else []
            found[question] = known
        except ValueError as error:
            wrong.append(f"line {line}: {error}")
    if wrong:
        more = f"; and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        raise SourceError(f"{path}: {'; '.join(wrong[:SHOWN])}{more}")
    if not found:
        raise SourceError(f"{path}: there is no question in it; expected {', '.join(COLUMNS)}")
    return list(found.values()), remarks


def _new(question: str, name: str) -> PoolQuestion:
    if blank(question):
        raise ValueError("the question is empty")
    return PoolQuestion(question_id(name, question), question, judged=False)


def _table(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The names of the columns, and the rows below them."""
    rows = read_cells(path, short=True)
    header = [cell.strip().lower() for cell in next(rows, (1, []))[1]]
    missing, others = set(COLUMNS) - {*header}, set(header) - {*COLUMNS}
    # What is missing may stand under another name.
    if COLUMNS[0] in missing or (missing and others) or len(set(header)) < len(header):
        raise SourceError(
            f"{path}: its columns are {', '.join(header) or 'none'}; expected question, and answer "
            "and document where they are known, and all three beside others"
        )
    return header, rows
