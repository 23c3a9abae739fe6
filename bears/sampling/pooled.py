"""Rows that bring their own paragraphs, as a benchmark: each text once, and every question."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

from bears.files.rows import PoolRow
from bears.identity import unused_name
from bears.types import Article, Passage, PassageRow, PoolDocument, Question, SourceQuestion


@dataclass
class Titles:
    """The titles under which each text stands.

    Args:
        merged: how many paragraphs have a text that an earlier one has under another title.
    """

    merged: int = 0
    _texts: set[bytes] = field(default_factory=set, repr=False)
    _titled: set[bytes] = field(default_factory=set, repr=False)

    def add(self, name: str, row: str, position: int, text: str) -> None:
        """Note a paragraph of a row; one without a title is called by its position."""
        title = name.removeprefix(f"{row}_")
        if title in (row, str(position)) or (titled := _key(f"{title}\0{text}")) in self._titled:
            return
        self._titled.add(titled)
        self.merged += (key := _key(text)) in self._texts
        self._texts.add(key)


@dataclass(frozen=True)
class Pooled:
    """The documents and questions of such rows; they are read anew by each iteration.

    A document has the id of its source's paragraph, ``{row}_{title}`` where it is a row's, with _
    for white space, which parts the columns of a run. A text stands once, under its first name, so
    that the gold of every question that has it is complete. A question without gold is not judged.

    Args:
        rows: of one source.
        source: its name.
        references: after an iteration, question_id to what its annotators answered, where that is
            more than one answer.
        titles: after an iteration, those of the paragraphs.
    """

    rows: Iterable[Article | PassageRow]
    source: str
    references: dict[str, list[str]] = field(default_factory=dict)
    titles: Titles = field(default_factory=Titles)

    def __iter__(self) -> Iterator[PoolRow]:
        ids: dict[bytes, str] = {}
        names: set[str] = set()
        for row in self.rows:
            for position, passage in enumerate(_passages(row)):
                if isinstance(row, PassageRow):
                    self.titles.add(passage.key, row.id, position, passage.text)
                if (key := _key(passage.text)) not in ids:
                    ids[key] = unused_name("_".join(passage.key.split()), names)
                    yield PoolDocument(ids[key], passage.text)
            yield from self._questions(row, ids)

    def _questions(self, row: Article | PassageRow, ids: dict[bytes, str]) -> Iterator[Question]:
        if isinstance(row, PassageRow):
            gold = dict.fromkeys(ids[_key(p.text)] for p in row.passages if p.is_gold)
            asked = SourceQuestion(row.id, row.question, (row.answer, *row.aliases))
            yield self._question(asked, tuple(gold), row)
            return
        for paragraph in row.paragraphs:
            for asked in paragraph.questions:
                answered = (ids[_key(paragraph.text)],) if any(asked.answers[:1]) else ()
                yield self._question(asked, answered, row)

    def _question(
        self, asked: SourceQuestion, gold: tuple[str, ...], row: Article | PassageRow
    ) -> Question:
        answers = [*dict.fromkeys(answer for answer in asked.answers if answer.strip())]
        if len(answers) > 1:
            self.references[asked.id] = answers
        return Question(
            question_id=asked.id,
            question=asked.question,
            gold_answer=answers[0] if answers else "",
            gold_doc_ids=gold,
            source_dataset=self.source,
            question_type=row.question_type if isinstance(row, PassageRow) else "single-hop",
            judged=bool(gold),
        )


def _passages(row: Article | PassageRow) -> Iterator[Passage]:
    if isinstance(row, PassageRow):
        yield from (Passage(f"{row.id}_{p.key}", p.text, p.is_gold) for p in row.passages)
    else:
        yield from (Passage(p.id, p.text, bool(p.questions)) for p in row.paragraphs)


def _key(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()
