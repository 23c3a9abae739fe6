"""Visit the questions of the sources in a seeded order and take some, as BEARS v1 does.

Only positions are shuffled, to hold no texts. A shuffle of n positions draws the same numbers from
the generator as a shuffle of n rows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from bears.errors import SamplingError
from bears.files.rows import SourceRecords
from bears.identity import question_id
from bears.types import Paragraph, ParagraphPlace, SourceQuestion

Sources = Mapping[str, SourceRecords]


@dataclass(frozen=True, slots=True)
class Draft:
    """A question that could be taken, with its paragraphs.

    Args:
        source: the name of its source.
        asked: the question; its first reference becomes the gold answer.
        passages: the paragraphs; the key of each is its original_id.
        grades: those of its gold, by key, if its source has grades.
    """

    source: str
    asked: SourceQuestion
    passages: tuple[Paragraph, ...]
    grades: Mapping[str, int]

    @property
    def upstream_id(self) -> str:
        return self.asked.question.question_id

    @property
    def question_id(self) -> str:
        return question_id(self.source, self.upstream_id)

    @property
    def gold(self) -> tuple[Paragraph, ...]:
        return tuple(passage for passage in self.passages if passage.is_gold)

    @property
    def texts(self) -> set[str]:
        return {passage.text for passage in self.passages}


@dataclass(frozen=True, slots=True)
class Visit:
    """A question that was visited, and what v1 keeps of it.

    Args:
        draft: the question.
        kept: its passages whose exact text no earlier question of the source used.
    """

    draft: Draft
    kept: tuple[Paragraph, ...]

    @property
    def taken(self) -> bool:
        """Return whether v1 takes the question, which needs a gold passage that was kept."""
        return any(passage.is_gold for passage in self.kept)

    @property
    def reason(self) -> str:
        """Return why the question was skipped."""
        if not self.draft.passages:
            return "the row has no paragraphs"
        if not self.draft.gold:
            return "the row has no gold paragraph"
        return "an earlier question uses its gold paragraphs"


def shuffled_drafts(name: str, records: SourceRecords, rng: Random) -> Iterator[Draft]:
    """Shuffle the questions of a source now; yield them lazily in that order."""
    order = list(range(len(records.questions)))
    rng.shuffle(order)
    return (_draft(name, records, records.questions[position]) for position in order)


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


def _draft(name: str, records: SourceRecords, asked: SourceQuestion) -> Draft:
    question, brought = asked.question, asked.passages
    if question.turns:
        raise SamplingError(
            f"source {name}: {question.question_id} is a conversation, which a recipe cannot draw"
        )
    # A question whose gold is not completely in the corpus brings no passage.
    grades = question.grades
    grades = grades if grades and grades.keys() <= records.places.keys() else {}
    brought += tuple(ParagraphPlace(doc_id, records.places[doc_id], True) for doc_id in grades)
    passages = tuple(
        Paragraph(p.key, records.documents[p.place].content, p.is_gold) for p in brought
    )
    return Draft(name, asked, passages, grades)
