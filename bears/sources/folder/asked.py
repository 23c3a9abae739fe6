"""Read the questions that people wrote down beside their documents."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from bears.errors import SourceError
from bears.files.spreadsheet import read_cells
from bears.files.visible import blank
from bears.identity import question_id
from bears.sources.folder.places import Places
from bears.sources.records import pool_question
from bears.types import SourceQuestion, Span

COLUMNS = ("question", "answer", "document", "quotation")
OTHER_NAMES = {
    **dict.fromkeys(("query", "user_input", "input"), "question"),
    **dict.fromkeys(("reference_answer", "gold_answer", "reference", "expected_output"), "answer"),
    **dict.fromkeys(("ground_truth", "expected_answer"), "answer"),
    **dict.fromkeys(("file", "filename", "path", "source", "doc_name"), "document"),
    **dict.fromkeys(("quote", "evidence", "passage"), "quotation"),
}
"""What other tools call these columns; read if ours are not there."""
SHOWN = 10
"""The number of bad rows that a message lists."""


@dataclass
class _Asked:
    answer: str = ""
    gold: dict[str, int] = field(default_factory=dict)
    spans: dict[Span, None] = field(default_factory=dict)


def questions(
    path: Path, name: str, dataset: str, places: Places
) -> tuple[list[SourceQuestion], list[tuple[int, str]]]:
    """Read the questions of a folder.

    A question with several rows has the documents and quotations of all of them. One without a
    document is not judged.

    Args:
        path: a CSV file or a workbook with a column ``question``, and where they are known
            ``answer``, ``document`` (a path) and ``quotation`` (the words of the document that
            answer it), or one of `OTHER_NAMES`. Other columns are ignored.
        name: of the source; a question's id is the version 5 UUID of ``q:{name}:{question}`` in the
            DNS namespace.
        dataset: what the questions name as their source.
        places: finds the documents.

    Returns:
        The questions, and remarks on lines with their numbers.

    Raises:
        FormatError: it is neither a CSV file nor a workbook.
        SourceError: naming the rows: a question is empty, has two answers, or names a document
            that cannot be found. A quotation that is not found is a span that is lost.
    """
    found: dict[str, _Asked] = {}
    remarks: list[tuple[int, str]] = []
    wrong: list[str] = []
    header, rows = _table(path)
    if others := [column for column in header if column not in COLUMNS]:
        remarks.append((1, f"columns that are ignored: {', '.join(others)}"))
    for line, cells in rows:
        row = dict(zip(header, cells, strict=True))
        question, answer, document, quotation = (row.get(name, "").strip() for name in COLUMNS)
        known = found.setdefault(question, _Asked())
        try:
            if blank(question):
                raise ValueError("the question is empty")
            if answer and known.answer not in ("", answer):
                raise ValueError(f"an earlier row answers {known.answer!r:.80}")
            known.answer = answer or known.answer
            if document or quotation:
                meant = places.find(document, quotation)
                known.gold |= {meant.doc_id: 1} if meant.doc_id else {}
                known.spans |= {meant.span: None} if meant.span else {}
                remarks += [(line, meant.remark)] if meant.remark else []
        except ValueError as error:
            wrong.append(f"line {line}: {error}")
    if wrong:
        more = f"; and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        raise SourceError(f"{path}: {'; '.join(wrong[:SHOWN])}{more}")
    if not found:
        raise SourceError(f"{path}: there is no question in it; expected {', '.join(COLUMNS)}")
    made = []
    for text, each in found.items():
        identifier = question_id(name, text)
        asked = pool_question(dataset, identifier, text, each.answer, each.gold, bool(each.gold))
        question_ = replace(asked.question, gold_spans=tuple(each.spans))
        made.append(replace(asked, question=question_))
    return made, remarks


def check_columns(path: Path) -> None:
    """Raise SourceError if a table has no questions, and FormatError if it is damaged."""
    _table(path)


def _table(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Return the names of the columns, and the rows below them."""
    rows = read_cells(path, short=True)
    header = [cell.strip().lower() for cell in next(rows, (1, []))[1]]
    for place, name in enumerate(header):
        if (known := OTHER_NAMES.get(name)) and known not in header:
            header[place] = known
    # The one that was meant would be ignored.
    mistyped = [
        column for column in {*COLUMNS} - {*header} if get_close_matches(column, header, 1, 0.8)
    ]
    if mistyped or COLUMNS[0] not in header or len(set(header)) < len(header):
        raise SourceError(
            f"{path}: its columns are {', '.join(header) or 'none'}; expected question, and where "
            "they are known answer, document and quotation, each once"
        )
    return header, rows
