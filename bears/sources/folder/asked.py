"""Read the questions that people wrote down beside their documents, and find what they name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

from bears.errors import SourceError
from bears.files.spreadsheet import read_cells
from bears.files.visible import blank
from bears.identity import identifier_of, question_id
from bears.language.quotations import Match, QuotedText
from bears.sources.parts import pool_question
from bears.types import SourceQuestion, Span


@dataclass(frozen=True)
class Found:
    """The document that is meant, the words in it if some are quoted, and how they were found.

    The document is None if it is gone.
    """

    doc_id: str | None
    span: Span | None = None
    remark: str = ""


class Places:
    """Finds documents and spans by the names and quotations that people use.

    Args:
        texts: a document's id to its text.
        stand_ins: a file that was dropped to the document that replaces it.
        left_out: a file's id to why it is not a document.
        dropped: a file's id to the headers and footers that its text lacks.
    """

    def __init__(
        self,
        texts: Mapping[str, str],
        stand_ins: Mapping[str, str],
        left_out: Mapping[str, str],
        dropped: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        self._texts = {
            file: QuotedText(text, dropped.get(file, ())) for file, text in texts.items()
        }
        self._stand_ins, self._left_out = stand_ins, left_out

    def find(self, document: str, quotation: str) -> Found:
        """Return what is meant. A quotation that is not found anywhere gives a lost span.

        Args:
            document: a file's path, or its name if only one file has it.
            quotation: from the document, or if none is named, from any.

        Raises:
            ValueError: the file or the only quotation cannot be found, or may be one of several.
        """
        file = self._file(document)
        if not quotation:
            if not file:
                raise ValueError(f"there is no file {document!r:.80}")
            return Found(file)
        if file and (match := self._texts[file].find(quotation)):
            return self._found(file, match, quotation)
        return self._elsewhere(document, file, quotation)

    def _elsewhere(self, document: str, file: str, quotation: str) -> Found:
        """Find a quotation outside of the document that it should be in, or without one."""
        there = {
            name: match
            for name, text in self._texts.items()
            if name != file and (match := text.find(quotation, similar=False))
        }
        if not there and not file:
            found = ((name, text.find(quotation)) for name, text in self._texts.items())
            there = {name: match for name, match in found if match}
        if len(there) == 1:
            [(name, match)] = there.items()
            return self._found(name, match, quotation, document)
        if not document and there:
            raise ValueError(
                f"{quotation!r:.80} is in {len(there)} places: {', '.join(sorted(there)[:5])}; "
                "quote more of it, or name one of these"
            )
        among = f"in {len(there)} other documents" if there else "in no document"
        lost = Span(file or document, 0, 0, quotation)
        return Found(file or None, lost, f"lost: {quotation!r:.80} is {among}")

    def _found(self, file: str, match: Match, quotation: str, named: str = "") -> Found:
        remarks = [
            f"{named!r:.80} does not have the quotation, {file} does" if named else "",
            f"its words changed: {match.similarity:.0f} % are the same"
            if match.similarity < 100
            else "",
            f"{file} has it {match.times} times; the first is gold" if match.times > 1 else "",
        ]
        # With a page's number in it, a quotation is not found without that page.
        words = self._texts[file].text[match.start : match.end]
        quoted = quotation if match.similarity == 100 else words
        span = Span(file, match.start, match.end, quoted)
        return Found(file, span, "; ".join(filter(None, remarks)))

    def _file(self, document: str) -> str:
        """Return the id of the document with this path or name, or an empty text."""
        known = [*self._texts, *self._stand_ins, *self._left_out]
        path = identifier_of(document.strip().replace("\\", "/").removeprefix("./"))
        named = [path] if path in known else [f for f in known if f.rpartition("/")[2] == path]
        if not named and document.strip() in known:
            # It is an id, not a name.
            named = [document.strip()]
        if len(named) > 1:
            raise ValueError(f"{document!r:.80} may be {', '.join(named[:5])}; give the path")
        if named and named[0] in self._left_out:
            raise ValueError(
                f"{named[0]} is left out: {self._left_out[named[0]]}. Save it as a text, a Word "
                "file or a PDF with text and name that, or empty the columns document and quotation"
            )
        return self._stand_ins.get(named[0], named[0]) if named else ""


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
    header, rows = question_rows(path)
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


def question_rows(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Return the names of the columns, and the rows below them.

    Raises:
        SourceError: the table has no questions.
        FormatError: it is damaged.
    """
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
