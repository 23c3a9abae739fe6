"""Walking the sources in a seeded order and taking questions, as BEARS v1 does.

Only positions are shuffled, so memory does not grow with the texts; a shuffle of n positions
draws the same numbers from the generator as a shuffle of n rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from bears.errors import SamplingError
from bears.files.rows import PoolRow
from bears.identity import unused_name
from bears.types import (
    Article,
    Document,
    Judgement,
    Passage,
    PassageRow,
    PoolDocument,
    PoolQuestion,
    Question,
    QuestionType,
)

Rows = Sequence[Article] | Sequence[PassageRow] | Sequence[PoolRow]
Sources = Mapping[str, Rows]


@dataclass(frozen=True, slots=True)
class Draft:
    """A question that could be taken, with its paragraphs; a passage's key is its original_id.

    ``answers`` are those of every annotator, of which a benchmark shows the first. ``grades`` are
    those of its gold, by key, where its source grades.
    """

    source: str
    row: int
    upstream_id: str
    question: str
    answers: tuple[str, ...]
    question_type: QuestionType
    passages: tuple[Passage, ...]
    grades: Mapping[str, int] = field(default_factory=dict)

    @property
    def answer(self) -> str:
        return self.answers[0] if self.answers else ""

    @property
    def gold(self) -> tuple[Passage, ...]:
        return tuple(passage for passage in self.passages if passage.is_gold)


@dataclass(frozen=True, slots=True)
class Visit:
    """A draft that the walk came by, and what v1 keeps of it.

    Args:
        draft: the question.
        kept: its passages whose exact text no earlier question of the source used.
    """

    draft: Draft
    kept: tuple[Passage, ...]

    @property
    def taken(self) -> bool:
        """Whether v1 takes the question, that is whether a gold passage was kept."""
        return any(passage.is_gold for passage in self.kept)

    @property
    def reason(self) -> str:
        """Why the question was passed over."""
        if not self.draft.passages:
            return "the row has no paragraphs"
        if not self.draft.gold:
            return "the row has no gold paragraph"
        return "an earlier question uses its gold paragraphs"


def shuffled_drafts(name: str, rows: Rows, rng: Random) -> Iterator[Draft]:
    """Shuffle the questions of a source now; yield them lazily in that order."""
    if len(rows) and isinstance(rows[0], Article):
        order = [
            (a, p, q)
            for a, article in enumerate(rows)
            for p, paragraph in enumerate(_article(article).paragraphs)
            for q in range(len(paragraph.questions))
        ]
        rng.shuffle(order)
        return (_from_article(name, rows, *place) for place in order)
    if len(rows) and not isinstance(rows[0], PassageRow):
        return _from_pool(name, rows, rng)
    positions = list(range(len(rows)))
    rng.shuffle(positions)
    return (_from_row(name, rows, position) for position in positions)


def take(drafts: Iterator[Draft], count: int) -> list[Visit]:
    """Walk until ``count`` questions are taken or the drafts end; return every visit."""
    visits: list[Visit] = []
    used: set[str] = set()
    taken = 0
    while taken < count and (draft := next(drafts, None)) is not None:
        kept = tuple(passage for passage in draft.passages if passage.text not in used)
        visit = Visit(draft, kept)
        visits.append(visit)
        if visit.taken:
            taken += 1
            used.update(passage.text for passage in kept)
    return visits


def paragraphs(rows: Rows) -> Iterator[tuple[str, str]]:
    """Yield (original_id, text) of every paragraph of a source, in file order."""
    for row in rows:
        if isinstance(row, PoolDocument | Document):
            yield _told(row)
        elif isinstance(row, Article):
            yield from ((paragraph.id, paragraph.text) for paragraph in row.paragraphs)
        elif isinstance(row, PassageRow):
            yield from _named(row)


def _named(row: PassageRow) -> Iterator[tuple[str, str]]:
    names: set[str] = set()
    by_text: dict[str, str] = {}
    for passage in row.passages:
        if passage.text not in by_text:
            by_text[passage.text] = unused_name(f"{row.id}_{passage.key}", names)
        yield by_text[passage.text], passage.text


def _from_pool(name: str, rows: Rows, rng: Random) -> Iterator[Draft]:
    """Questions of a benchmark that have gold, each with its gold documents and their grades.

    Its other documents can fill the pool. A question of which a gold document is not in the corpus
    brings no passage.
    """
    places: dict[str, int] = {}
    grades: dict[str, dict[str, int]] = {}
    asked: list[int] = []
    for position, row in enumerate(rows):
        if isinstance(row, PoolDocument | Document):
            places[_told(row)[0]] = position
        elif isinstance(row, Judgement):
            grades.setdefault(row.question_id, {})[row.doc_id] = row.grade
        else:
            asked.append(position)
    rng.shuffle(asked)
    return (_from_question(name, rows, position, places, grades) for position in asked)


def _from_question(
    name: str,
    rows: Rows,
    position: int,
    places: Mapping[str, int],
    grades: Mapping[str, Mapping[str, int]],
) -> Draft:
    row = rows[position]
    if isinstance(row, PoolQuestion):
        identifier, answer, graded = row.id, row.answer, dict(row.gold)
    else:
        assert isinstance(row, Question)
        identifier, answer, graded = row.question_id, row.gold_answer, row.grades
    if row.turns:
        raise SamplingError(f"source {name}: {identifier} is a conversation; draw it by no recipe")
    gold = {i: n for i, n in {**graded, **grades.get(identifier, {})}.items() if n > 0}
    known = gold if gold.keys() <= places.keys() else {}
    passages = tuple(Passage(*_told(rows[places[i]]), is_gold=True) for i in known)
    answers = tuple(dict.fromkeys([answer, *(each.text for each in row.answers)]))
    return Draft(name, position + 1, identifier, row.question, answers, "ad-hoc", passages, known)


def _told(row: Any) -> tuple[str, str]:
    """Id and text of a document of a benchmark."""
    return (row.id, row.text) if isinstance(row, PoolDocument) else (row.doc_id, row.content)


def _article(row: object) -> Article:
    assert isinstance(row, Article)
    return row


def _from_article(name: str, rows: Rows, article: int, paragraph: int, question: int) -> Draft:
    place = _article(rows[article]).paragraphs[paragraph]
    asked = place.questions[question]
    gold = (Passage(asked.id, place.text, bool(asked.answers and asked.answers[0])),)
    return Draft(name, article + 1, asked.id, asked.question, asked.answers, "single-hop", gold)


def _from_row(name: str, rows: Rows, position: int) -> Draft:
    row = rows[position]
    assert isinstance(row, PassageRow)
    passages = tuple(Passage(f"{row.id}_{p.key}", p.text, p.is_gold) for p in row.passages)
    answers = (row.answer, *row.aliases)
    return Draft(name, position + 1, row.id, row.question, answers, row.question_type, passages)
