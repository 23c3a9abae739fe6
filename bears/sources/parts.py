"""The files of a source, and what its reader makes of them: documents, questions and reports."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Literal, TypeVar

from bears.config.shape import Source
from bears.config.typed import parse
from bears.errors import MalformedRow
from bears.identity import document_id, unused_name
from bears.layout import LOCAL
from bears.sources.rows import BadField, Naming, Numbered, Row, Words, read_rows
from bears.types import (
    Answer,
    Document,
    Paragraph,
    ParagraphPlace,
    Question,
    QuestionType,
    SourceQuestion,
    Turn,
)

Record = Document | SourceQuestion
RowRecords = Sequence[Record]
"""The records of one row. Its questions give the places of their passages within the row."""
T = TypeVar("T")


def numbered_records(rows: Iterable[RowRecords]) -> Iterator[Record]:
    """Yield the records of all rows, with the places of passages counted over the whole source."""
    before = 0
    for number, row in enumerate(rows, start=1):
        for record in row:
            if isinstance(record, SourceQuestion):
                passages = tuple(replace(p, place=before + p.place) for p in record.passages)
                yield replace(record, row=number, passages=passages)
            else:
                yield record
        before += sum(isinstance(record, Document) for record in row)


def pool_document(source: str, doc_id: str, text: str, group: str = "") -> Document:
    """Return a document of a source that is a benchmark already, which keeps its id."""
    return Document(doc_id, text, source, doc_id, False, group)


def pool_question(
    source: str,
    question_id: str,
    question: str,
    answer: str = "",
    gold: Mapping[str, int] | None = None,
    judged: bool = True,
    turns: tuple[Turn, ...] = (),
    answers: tuple[Answer, ...] = (),
    group: str = "",
    lacks: Literal["", "judgement", "relevant"] = "",
    kind: QuestionType = "ad-hoc",
    not_relevant: tuple[tuple[str, int], ...] = (),
) -> SourceQuestion:
    """Return a question of a source that is a benchmark already.

    Args:
        gold: id to grade of every document that is known to be relevant.
        judged: False where the source does not give the gold. A question that is judged and has
            no gold has no right document.
        lacks: see `bears.types.SourceQuestion`.
        kind: the type of a question that needs retrieval, as far as that is known.
        not_relevant: see `bears.types.Question`.
    """
    grades = tuple((gold or {}).values())
    made = Question(
        question_id=question_id,
        question=question,
        gold_answer=answer,
        gold_doc_ids=tuple(gold or ()),
        source_dataset=source,
        question_type=kind if gold or not judged else "no-retrieval",
        gold_grades=grades if {*grades} - {1} else (),
        judged=judged,
        turns=turns,
        answers=answers,
        group=group,
        not_relevant=not_relevant,
    )
    return own_question(made, lacks)


def own_question(
    question: Question, lacks: Literal["", "judgement", "relevant"] = ""
) -> SourceQuestion:
    """Return a question as it leaves ``download``, with each distinct answer."""
    answers = dict.fromkeys([question.gold_answer, *(each.text for each in question.answers)])
    return SourceQuestion(question, references=tuple(answers), lacks=lacks)


def passage_document(source: str, name: str, text: str) -> Document:
    """Return the document of a paragraph that is called ``name`` within its source."""
    return Document(document_id(source, name), text, source, name, False)


def passage_question(
    source: str,
    question_id: str,
    question: str,
    answers: tuple[str, ...],
    kind: QuestionType,
    passages: tuple[ParagraphPlace, ...],
) -> SourceQuestion:
    """Return a question that brings its own passages, with its first answer that is not blank."""
    answer = next((text for text in answers if text.strip()), "")
    lacks: Literal["", "judgement"] = "" if any(p.is_gold for p in passages) else "judgement"
    made = Question(question_id, question, answer, (), source, kind)
    return SourceQuestion(made, references=answers, passages=passages, lacks=lacks)


def passage_row(
    source: str,
    question_id: str,
    question: str,
    answers: tuple[str, ...],
    kind: QuestionType,
    passages: Sequence[Paragraph],
) -> RowRecords:
    """Return a document for each passage of a question, and then the question.

    A passage is called by the question's id and its own key. The same text has one name.
    """
    taken: set[str] = set()
    names: dict[str, str] = {}
    for passage in passages:
        if passage.text not in names:
            names[passage.text] = unused_name(f"{question_id}_{passage.key}", taken)
    brought = tuple(
        ParagraphPlace(f"{question_id}_{passage.key}", n, passage.is_gold)
        for n, passage in enumerate(passages)
    )
    return [
        *(passage_document(source, names[p.text], p.text) for p in passages),
        passage_question(source, question_id, question, answers, kind, brought),
    ]


def numbered(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a file and their positions. Raises what `read_rows` raises."""
    return enumerate(read_rows(path), start=1)


Lines = Callable[[Path], Iterator[tuple[int, Row]]]


@dataclass
class ReadingReport:
    """What a reader reports beside its records.

    Args:
        notes: the number of times that something was met; goes into the provenance.
        failures: what of the source could not be read, and why.
        remarks: what a person should know of single records: which one, what, and its text.
        warnings: sentences to show in the terminal.
        skipped: what was wrong with each row that was skipped.
        fields: for each field of a file of questions its name, what it is taken as, an example, and
            how much of it was found.
    """

    notes: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    remarks: list[tuple[str, str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    fields: Sequence[tuple[str, str, str, str]] = ()


@dataclass
class Parts:
    """The tables of a source, and how far they are read.

    Args:
        source: its description.
        tables: the files of each part.
        folder: where a reader may keep what it fetches by itself.
        dataset: what the records name as their source; empty: the source's name.
        limits: the most rows to read of single parts, in place of the source's limit.
        counts: the number of rows read from each file.
        names: what a file is called in the provenance, if not by its name.
        cut: whether a limit was reached.
        met: those of our words whose fields some row had.
        report: what the reader has to say.
    """

    source: Source
    tables: Mapping[str, Sequence[Path]]
    folder: Path = LOCAL
    dataset: str = ""
    limits: dict[str, int] = field(default_factory=dict)
    counts: dict[Path, int] = field(default_factory=dict)
    names: dict[Path, str] = field(default_factory=dict)
    cut: bool = False
    met: set[str] = field(default_factory=set)
    report: ReadingReport = field(default_factory=ReadingReport)

    def __post_init__(self) -> None:
        self.dataset = self.dataset or self.name

    @property
    def name(self) -> str:
        """Return the source's name."""
        return self.source.name

    def settings(self, kind: type[T]) -> T:
        """Return the settings of the reader. Raises ConfigurationError if they do not fit."""
        return parse(kind, dict(self.source.settings), f"sources.{self.name}.settings")

    def rows(self, part: str = "", lines: Lines = numbered) -> Iterator[Numbered]:
        """Yield the rows of a part's files, or of all parts if none is named.

        Args:
            part: its name.
            lines: from a file to its rows, numbered from 1.

        Raises what ``lines`` raises.
        """
        found = [self.tables.get(part, ())] if part else self.tables.values()
        # Two patterns may match one file.
        files = dict.fromkeys(chain.from_iterable(found))
        given = ((file, number, row) for file in files for number, row in lines(file))
        limit = self.limits.get(part, self.source.limit)
        for n, (file, number, row) in enumerate(islice(given, limit), start=1):
            self.cut = self.cut or n == limit
            yield self.called(file), self.count(file, number), row

    def each(
        self,
        made: Callable[[Row], T],
        part: str = "",
        lines: Lines = numbered,
        words: Words | None = None,
    ) -> Iterator[T]:
        """Yield what is made of each row of a part, without the bad rows if those are skipped.

        Args:
            made: from a row.
            part, lines: see `rows`.
            words: the names of its fields, by which ``made`` knows them; None: as they are.

        Raises:
            MalformedRow: a row is not an object, or ``made`` raises BadField, and the source
                stops at such rows.
        """
        naming = words and Naming(words, self.source.fields or {}, self.name, self.met)
        for file, number, row in self.rows(part, lines):
            try:
                if not isinstance(row, dict):
                    raise BadField("(row)", f"not an object but {row!r:.40}")
                found = made(naming.renamed(row) if naming else row)
            except BadField as bad:
                error = MalformedRow(file, number, bad.field, bad.problem, self.name)
                if self.source.on_bad_row == "stop":
                    raise error from None
                self.report.skipped.append(error.what)
                self.report.remarks.append((f"{file}, row {number}", f"left out: {error.what}", ""))
            else:
                yield found

    def called(self, file: Path) -> str:
        """Return the name of a file, after some of its folders if another one has the same name."""
        return self.names.get(file) or self._called.get(file, file.name)

    @cached_property
    def _called(self) -> dict[Path, str]:
        files = [*dict.fromkeys(chain.from_iterable(self.tables.values()))]
        same = Counter(file.name for file in files)
        above = os.path.commonpath([file.parent for file in files]) if files else ""
        return {file: file.relative_to(above).as_posix() for file in files if same[file.name] > 1}

    def count(self, file: Path, number: int) -> int:
        """Record that ``number`` rows of a file were read, and return it."""
        self.counts[file] = number
        return number


Reader = Callable[[Parts], Iterator[RowRecords]]
