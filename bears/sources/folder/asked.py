"""Read the questions that people wrote down beside their documents, and find what they name."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bears.errors import BearsError, FormatError, SourceError
from bears.files.intake.files import json_value, lines, numbered_lines
from bears.files.intake.tables import parquet_rows
from bears.files.intake.yaml_text import yaml_value
from bears.files.shown import complain
from bears.files.spreadsheet import read_cells
from bears.files.visible import blank
from bears.identity import own_question_id
from bears.language.quotations import Holders, Match, QuotedText
from bears.sources.folder.conversations import Rows, one_question_each
from bears.sources.folder.fields import (
    ENDS_ASKING,
    NEVER_GUESSED,
    Cell,
    FieldReading,
    fields_of,
    question_field,
    read_fields,
    unanswerable_rows,
)
from bears.sources.folder.named import Files
from bears.sources.parts import pool_question
from bears.sources.rows import cell_value
from bears.types import Answer, SourceQuestion, Span, Turn

TABLES = (".csv", ".tsv", ".xlsx")
ENDINGS = (*TABLES, ".json", ".jsonl", ".yaml", ".yml", ".parquet")
"""Of the files that questions are read from."""
KEY, VALUE = "(key)", "(value)"
"""The names of an object's keys and values, if its values are the rows."""


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
        self.texts = texts
        self.files = Files([*texts, *stand_ins, *left_out])
        self._quoted = {
            file: QuotedText(text, dropped.get(file, ())) for file, text in texts.items()
        }
        self._stand_ins, self._left_out = stand_ins, left_out
        self.holders = Holders({}, ())

    def expect(self, quotations: Iterable[str]) -> None:
        """Look for everything at once that may be a quotation."""
        self.holders = Holders(self.texts, quotations)

    def documents(self, named: str) -> list[str]:
        """Return the ids of the documents that a value names.

        Raises:
            ValueError: it may be one of several files, or names one that is left out.
        """
        found = self.files.find(named)
        for file in found:
            if file in self._left_out:
                raise ValueError(
                    f"{file} is left out: {self._left_out[file]}. Save it as a text, a Word file "
                    "or a PDF with text and name that, or empty its name and the quotation"
                )
        return [self._stand_ins.get(file, file) for file in found]

    def find(self, documents: Sequence[str], quotation: str, named: str = "") -> Found:
        """Return where a quotation is. One that is not found anywhere gives a lost span.

        Args:
            documents: that it should be in; none: any.
            quotation: as `expect` had it.
            named: what names the documents in messages.

        Raises:
            ValueError: it may be in one of several documents.
        """
        for file in documents:
            if match := self._quoted[file].find(quotation):
                return self._found(file, match, quotation)
        there = {
            name: match
            for name in self.holders.of(quotation)
            if name not in documents
            and (match := self._quoted[name].find(quotation, similar=False))
        }
        if not there and not documents:
            likely = self.holders.of(quotation, similar=True)
            found = ((name, self._quoted[name].find(quotation)) for name in likely)
            there = {name: match for name, match in found if match}
        if len(there) == 1:
            [(name, match)] = there.items()
            return self._found(name, match, quotation, named)
        if not named and there:
            raise ValueError(
                f"{quotation!r:.80} is in {len(there)} places: {', '.join(sorted(there)[:5])}; "
                "quote more of it, or name one of these"
            )
        among = f"in {len(there)} other documents" if there else "in no document"
        file = documents[0] if documents else ""
        lost = Span(file or named, 0, 0, quotation)
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
        words = self.texts[file][match.start : match.end]
        quoted = quotation if match.similarity == 100 else words
        span = Span(file, match.start, match.end, quoted)
        return Found(file, span, "; ".join(filter(None, remarks)))


SHOWN = 10
"""The number of bad rows that a message lists."""


@dataclass
class _Asked:
    answers: dict[str, None] = field(default_factory=dict)
    gold: dict[str, int] = field(default_factory=dict)
    spans: dict[Span, None] = field(default_factory=dict)
    unanswerable: bool = False
    weight: int = 0


Cells = Mapping[str, Mapping[int, Sequence[Cell]]]
"""A role, and the number of a row, to its values."""


def questions(
    path: Path,
    name: str,
    dataset: str,
    places: Places,
    fixed: Mapping[str, str] = MappingProxyType({}),
    language: str = "en",
) -> tuple[list[list[SourceQuestion]], list[tuple[str, str]], FieldReading]:
    """Read the questions of a folder.

    A question with several rows has the documents and quotations of all of them. One without a
    document is not judged, unless its rows say that it has no answer. Within a conversation, a
    question has the earlier ones and their answers before it.

    Args:
        path: a file of rows, see `question_rows`; its fields are found by
            `bears.sources.folder.fields.read_fields`.
        name: of the source; a question's id is the version 5 UUID of ``q:{name}:{question}`` in the
            DNS namespace, where the question has the earlier turns before it.
        dataset: what the questions name as their source.
        places: finds the documents.
        fixed: a role to the name of its field, where a person gave it.
        language: BCP 47 tag of the documents.

    Returns:
        The questions, those of a conversation together; remarks on lines; and how the fields were
        read.

    Raises:
        FormatError: it cannot be read.
        SourceError: it is not certain what its fields are; or naming the rows: a question is empty,
            has two answers, or names a document that cannot be found; or a turn has two questions.
            A quotation that is not found is a span that is lost.
    """
    rows = question_rows(path, fixed)
    fields = fields_of(row for _, row in rows)
    places.expect(cell.value for each in fields.values() for cell in each.cells)
    try:
        reading = read_fields(fields, places.files, places.holders, fixed)
    except SourceError as error:
        raise SourceError(f"{path}: {error}") from None
    silent = unanswerable_rows(reading, fields.values(), language)
    cells = {
        role: {row: list(own) for row, own in groupby(reading.cells(role), attrgetter("row"))}
        for role in reading.fields
    }
    asked = ["; ".join(c.value for c in cells["question"].get(n, ())) for n in range(len(rows))]
    before = _before(path, cells, asked)
    found: dict[tuple[str, tuple[Turn, ...]], _Asked] = {}
    together: dict[str, dict[tuple[str, tuple[Turn, ...]], None]] = {}
    remarks: list[tuple[str, str]] = []
    wrong: list[str] = []
    said = {role: {c.row: c.value for c in reading.cells(role)} for role in NEVER_GUESSED}
    undecided = 0
    for number, (line, _) in enumerate(rows):
        decision = said["decision"].get(number, "").casefold()
        if decision == "drop":
            continue
        undecided += not decision
        key = asked[number], before[number]
        known = found.setdefault(key, _Asked())
        together.setdefault(_conversation(cells, number, *key), {})[key] = None
        try:
            if blank(asked[number]):
                raise ValueError("the question is empty")
            if decision not in ("", "accept"):
                raise ValueError(f"the decision is {decision!r:.40}; expected accept or drop")
            known.weight += _weight(said["weight"].get(number, "0"))
            _answer(known, cells["answer"].get(number, ()), number in silent)
            named, quoted = (cells[role].get(number, ()) for role in ("document", "quotation"))
            for meant in _gold(places, named, quoted):
                known.gold |= {meant.doc_id: 1} if meant.doc_id else {}
                known.spans |= {meant.span: None} if meant.span else {}
                remarks += [(line, meant.remark)] if meant.remark else []
        except ValueError as error:
            wrong.append(f"{line}: {error}")
    if undecided and "decision" in reading.fields:
        complain(
            f"{path}: {undecided} questions are neither accepted nor dropped; look at "
            "them before you commit or publish anything"
        )
    if wrong:
        more = f"; and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        raise SourceError(f"{path}: {'; '.join(wrong[:SHOWN])}{more}")
    made = [
        [_made(name, dataset, *key, found.pop(key)) for key in own if key in found]
        for own in together.values()
    ]
    return [own for own in made if own], remarks, reading


def _weight(value: str) -> int:
    if not value.isdecimal():
        raise ValueError(f"the weight is {value!r:.40}; expected a whole number")
    return int(value)


def _before(path: Path, cells: Cells, asked: Sequence[str]) -> list[tuple[Turn, ...]]:
    """Return the conversation before the question of each row.

    A row has it as a list of messages, or the rows of the same conversation have it.
    """
    before: list[tuple[Turn, ...]] = [()] * len(asked)
    rows: dict[str, list[int]] = {}
    for row, (cell, *_) in cells["conversation"].items():
        rows.setdefault(cell.value, []).append(row)
    turns = {row: own[0].value for row, own in cells["turn"].items()}
    for conversation, own in rows.items():
        said: tuple[Turn, ...] = ()
        # Without numbers, rows of one question are one turn.
        ordered = sorted(own, key=lambda row: int(turns.get(row, 0)))
        for turn, same in groupby(ordered, lambda row: turns.get(row, asked[row])):
            of_turn = list(same)
            if len({asked[row] for row in of_turn}) > 1:
                raise SourceError(
                    f"{path}: turn {turn} of conversation {conversation!r:.80} has two questions; "
                    "give them other numbers, or pass --set conversation= if they are not turns"
                )
            for row in of_turn:
                before[row] = said
            answers = [cell.value for row in of_turn for cell in cells["answer"].get(row, ())]
            said += (Turn("user", asked[of_turn[0]]),)
            said += tuple(Turn("assistant", answer) for answer in answers[:1])
    for row, question in enumerate(asked):
        messages = [c.turns for role in ("question", "history") for c in cells[role].get(row, ())]
        if said := next(filter(None, messages), ()):
            last = [at for at, turn in enumerate(said) if turn == Turn("user", question)]
            before[row] = said[: last[-1]] if last else said
    return before


def _conversation(cells: Cells, row: int, asked: str, before: Sequence[Turn]) -> str:
    """Return what the questions of a conversation have in common."""
    named = cells["conversation"].get(row)
    return named[0].value if named else before[0].content if before else asked


def _answer(known: _Asked, cells: Sequence[Cell], unanswerable: bool) -> None:
    """Add the answers of a row. Raises ValueError if an earlier row has another one."""
    answers = dict.fromkeys(cell.value for cell in cells)
    if unanswerable:
        known.unanswerable, answers = True, {}
    if answers and known.answers and answers.keys().isdisjoint(known.answers):
        raise ValueError(f"an earlier row answers {next(iter(known.answers))!r:.80}")
    known.answers |= answers


def _gold(places: Places, documents: Sequence[Cell], quotations: Sequence[Cell]) -> Iterator[Found]:
    """Yield what a row names and quotes. Raises ValueError if that cannot be found."""
    ids = {cell: places.documents(cell.value) for cell in documents}
    groups = [list(own) for _, own in groupby(quotations, attrgetter("group"))]
    elsewhere: set[str] = set()
    for place, group in enumerate(groups):
        named = [cell for cell in documents if cell.beside(group[0])]
        if len(named) == len(groups) > 1:
            named = named[place : place + 1]
        files = [doc_id for cell in named for doc_id in ids[cell]]
        words = "; ".join(cell.value for cell in named)
        tried = [places.find(files, cell.value, words) for cell in group]
        found = next((each for each in tried if each.span and not each.span.lost), tried[0])
        if found.doc_id not in files:
            elsewhere.update(files)
        yield found
    for cell, own in ids.items():
        if not own and (not quotations or any(ids.values())):
            near = places.files.near(cell.value)
            nearest = f"; the nearest name is {near!r:.80}" if near else ""
            raise ValueError(f"there is no file {cell.value!r:.80}{nearest}")
        yield from (Found(doc_id) for doc_id in own if doc_id not in elsewhere)


def _made(
    name: str, dataset: str, text: str, turns: tuple[Turn, ...], each: _Asked
) -> SourceQuestion:
    answers = [*each.answers]
    silent = each.unanswerable and not each.gold
    several = [Answer("free-form", answer, None) for answer in answers] if answers[1:] else []
    asked = pool_question(
        dataset,
        own_question_id(name, (turn.content for turn in turns), text),
        text,
        next(iter(answers), ""),
        each.gold,
        bool(each.gold) or silent,
        turns,
        answers=(Answer("unanswerable", "", ()),) if silent else tuple(several),
    )
    spans, weight = tuple(each.spans), max(each.weight, 1)
    return replace(asked, question=replace(asked.question, gold_spans=spans, weight=weight))


def check_asked(path: Path, fixed: Mapping[str, str]) -> None:
    """Refuse a file without questions, which takes less time than reading the documents.

    Raises what `questions` raises.
    """
    rows = question_rows(path, fixed)
    try:
        question_field(fields_of(row for _, row in rows), fixed)
    except SourceError as error:
        raise SourceError(f"{path}: {error}") from None


def question_rows(path: Path, fixed: Mapping[str, str]) -> Rows:
    """Return a row for each question of a file, each with what names it in messages.

    The file is a table with a header (CSV, a workbook or Parquet), whose cells may hold lists as
    JSON or Python writes them; JSON or YAML: a list of objects, an object of them or of columns, or
    one that has such a list in it; or JSON Lines. A row may have several questions, see
    `one_question_each`.

    Raises:
        SourceError: there is no row.
        FormatError: it cannot be read.
    """
    found = list(_rows(path))
    if not found:
        raise SourceError(f"{path}: there is no question in it; expected rows with a question")
    return one_question_each(found, fixed)


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    ending = path.suffix.lower()
    if ending in TABLES:
        cells = read_cells(path, short=True)
        header = [cell.strip() for cell in next(cells, (1, []))[1]]
        if len({name.lower() for name in header}) < len(header):
            raise FormatError(f"{path}: two columns are called the same: {', '.join(header)}")
        for line, values in cells:
            yield f"line {line}", dict(zip(header, map(cell_value, values), strict=True))
    elif ending == ".parquet":
        for number, row in enumerate(parquet_rows(path), start=1):
            yield f"row {number}", row
    elif ending == ".jsonl" or (ending == ".json" and _is_lines(path)):
        for line, value in lines(path, nan="none", blank=True):
            if not isinstance(value, dict):
                raise FormatError(f"{path}, line {line}: expected an object, not {value!r:.40}")
            yield f"line {line}", value
    else:
        yaml = ending in (".yaml", ".yml")
        value = yaml_value(path) if yaml else json_value(path, nan="none")
        pairs = value.items() if isinstance(value, dict) else ()
        found = [*_lists(value)] or [[{KEY: key, VALUE: each} for key, each in pairs]]
        if len(found) > 1:
            found = [rows for rows in found if _asking(rows)]
        if len(found) > 1:
            raise SourceError(f"{path}: {len(found)} lists in it have questions; keep one of them")
        for number, record in enumerate(found[0] if found else (), start=1):
            yield f"record {number}", record


def looks_asked(path: Path) -> bool:
    """Return whether a file has rows with questions."""
    try:
        check_asked(path, {})
    except BearsError:
        return False
    return True


def _asking(rows: Sequence[Any]) -> bool:
    """Return whether a field of rows has questions."""
    fields = fields_of(rows).values()
    return any(each.spoken or each.share(ENDS_ASKING.search) >= 0.5 for each in fields)


def _number_asked(rows: Sequence[Any]) -> int:
    """Return how many values of one field ask, at most."""
    return max((sum(c.asks for c in each.cells) for each in fields_of(rows).values()), default=0)


def _by_column(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of an object of columns, each a list, or an object with names of rows."""
    rows: dict[Any, dict[str, Any]] = {}
    for name, column in value.items():
        named = dict(enumerate(column)) if isinstance(column, list) else column
        for key, each in named.items() if isinstance(named, dict) else ():
            rows.setdefault(key, {KEY: key})[name] = each
    return [*rows.values()]


def _is_lines(path: Path) -> bool:
    """Return whether each of a file's first two lines begins a JSON object."""
    # Within one object, a name follows its bracket.
    return [line.strip()[:1] for _, line in islice(numbered_lines(path), 2)] == [b"{", b"{"]


def _lists(value: Any) -> Iterator[list[dict[str, Any]]]:
    """Yield the lists of objects, and the objects of rows or of columns, that are in no other."""
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        yield value
    elif isinstance(value, dict) and value:
        inner = [found for each in value.values() for found in _lists(each)]
        rows = all(isinstance(each, dict) for each in value.values())
        by_row = [{KEY: key, **row} for key, row in value.items()] if rows else []
        long = {len(each) for each in value.values() if isinstance(each, list)}
        columns = _by_column(value) if rows or len(long) == 1 else []
        if _number_asked(columns) > max(map(_number_asked, [by_row, *inner])):
            yield columns
        elif rows and (len(inner) != 1 or _number_asked(by_row) > _number_asked(inner[0])):
            yield by_row
        else:
            yield from inner
