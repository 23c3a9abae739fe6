"""Walking the sources in a seeded order and taking questions, as BEARS v1 does.

Only positions are shuffled, so memory does not grow with the texts; a shuffle of n positions
draws the same numbers from the generator as a shuffle of n rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from bears.sampling.identity import unused_name
from bears.types import Article, Passage, PassageRow, QuestionType

Rows = Sequence[Article] | Sequence[PassageRow]
Sources = Mapping[str, Rows]


@dataclass(frozen=True, slots=True)
class Draft:
    """A question that could be taken, with its paragraphs; a passage's key is its original_id.

    ``answers`` are those of every annotator, of which a benchmark shows the first.
    """

    source: str
    row: int
    upstream_id: str
    question: str
    answers: tuple[str, ...]
    question_type: QuestionType
    passages: tuple[Passage, ...]

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
        if isinstance(row, Article):
            yield from ((paragraph.id, paragraph.text) for paragraph in row.paragraphs)
        else:
            yield from _named(row)


def _named(row: PassageRow) -> Iterator[tuple[str, str]]:
    names: set[str] = set()
    by_text: dict[str, str] = {}
    for passage in row.passages:
        if passage.text not in by_text:
            by_text[passage.text] = unused_name(f"{row.id}_{passage.key}", names)
        yield by_text[passage.text], passage.text


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
