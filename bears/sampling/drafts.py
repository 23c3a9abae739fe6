"""Walking the sources in a seeded order and taking questions, as BEARS v1 does.

Only positions are shuffled, so memory does not grow with the texts; a shuffle of n positions
draws the same numbers from the generator as a shuffle of n rows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from bears.errors import SamplingError
from bears.files.rows import SourceRecords
from bears.types import Brought, Passage, QuestionType, SourceQuestion

Sources = Mapping[str, SourceRecords]


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
            f"source {name}: {question.question_id} is a conversation; draw it by no recipe"
        )
    # A question of which a gold document is not in the corpus brings no passage.
    grades = question.grades
    grades = grades if grades and grades.keys() <= records.places.keys() else {}
    brought += tuple(Brought(doc_id, records.places[doc_id], True) for doc_id in grades)
    passages = tuple(Passage(p.key, records.documents[p.place].content, p.is_gold) for p in brought)
    kind = question.question_type
    return Draft(
        name,
        asked.row,
        question.question_id,
        question.question,
        asked.references,
        kind,
        passages,
        grades,
    )
