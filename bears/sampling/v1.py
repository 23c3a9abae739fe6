"""The sampler of BEARS v1, defects included, and the seeded order in which every sampler visits.

Only positions are shuffled, to hold no texts. A shuffle of n positions draws the same numbers from
the generator as a shuffle of n rows.

The sampler's defects are kept here on purpose: a paragraph that a row lists twice becomes two
documents with one id; a paragraph shared with an earlier question is dropped from the later one; a
skipped question leaves its other paragraphs in the pool; a random negative is named by its rank.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random

from bears.errors import SamplingError
from bears.files.rows import SourceRecords
from bears.identity import document_id, question_id
from bears.sampling.mixture import Mixture, Quota
from bears.types import Document, Paragraph, ParagraphPlace, Question, SourceQuestion

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
    def origin(self) -> dict[str, str | int]:
        """Return where the question is from, for the lineage and the notes."""
        return {"source": self.source, "row": self.asked.row, "upstream_id": self.upstream_id}

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


def _drafts(name: str, records: SourceRecords, order: Iterable[int]) -> Iterator[Draft]:
    """Yield the questions of a source in this order, as they are needed."""
    for position in order:
        asked = records.questions[position]
        question, brought = asked.question, asked.passages
        if question.turns:
            raise SamplingError(
                f"source {name}: {question.question_id} is a conversation, which a recipe cannot "
                "draw"
            )
        # A question whose gold is not completely in the corpus brings no passage.
        grades = question.grades
        grades = grades if grades and grades.keys() <= records.places.keys() else {}
        brought += tuple(ParagraphPlace(doc_id, records.places[doc_id], True) for doc_id in grades)
        passages = tuple(
            Paragraph(p.key, records.documents[p.place].content, p.is_gold) for p in brought
        )
        yield Draft(name, asked, passages, grades)


@dataclass(frozen=True)
class V1Sample:
    """The results of v1's steps.

    Args:
        visits: every question that was visited, source by source.
        rest: for each source the drafts that were not visited, in their order.
        negatives: every unused paragraph as a document that is named by it, in shuffled order.
        pool: the documents in their final order.
    """

    visits: list[Visit]
    rest: dict[str, Iterator[Draft]]
    negatives: list[Document]
    pool: list[Document]

    @property
    def taken(self) -> list[Visit]:
        return [visit for visit in self.visits if visit.taken]

    def questions(self) -> list[Question]:
        """Return v1's questions, whose gold lacks what an earlier question used."""
        return [
            question(
                visit.draft,
                [document_id(visit.draft.source, p.key) for p in visit.kept if p.is_gold],
            )
            for visit in self.taken
        ]


def sample_v1(mixture: Mixture, sources: Sources) -> V1Sample:
    """Run v1's sampling; one random generator is shared by all its steps.

    Args:
        mixture: the composition.
        sources: rows by source name.

    Raises:
        SamplingError: a source has fewer usable questions than asked, or is not there.
    """
    rng = Random(mixture.seed)
    visits: list[Visit] = []
    rest: dict[str, Iterator[Draft]] = {}
    for quota in mixture.sources:
        records = records_of(sources, quota.source)
        order = list(range(len(records.questions)))
        rng.shuffle(order)
        drafts = _drafts(quota.source, records, order)
        visits += _taken(quota, drafts)
        rest[quota.source] = drafts
    ranked = list(enumerate(_negatives(mixture, sources, visits)))
    rng.shuffle(ranked)
    pool = [document(v.draft.source, p) for v in visits if v.taken for p in v.kept if p.is_gold]
    pool += [document(v.draft.source, p) for v in visits for p in v.kept if not p.is_gold]
    missing = max(0, mixture.documents - len(pool))
    # v1 names a random negative by its rank among the unused paragraphs in file order, from 0.
    pool += [
        replace(negative, doc_id=document_id(negative.original_source, f"neg_{rank}"))
        for rank, negative in ranked[:missing]
    ]
    rng.shuffle(pool)
    return V1Sample(visits, rest, [negative for _, negative in ranked], pool)


def as_published(v1: V1Sample, mixture: Mixture, sources: Sources) -> list[Document]:
    """Return what the author published: without second copies, and with documents in their place.

    Those are the gold paragraphs of the first row of the last source's file that gave no
    question. They are not gold of any question.

    Raises:
        SamplingError: that row does not bring as many paragraphs as there were second copies.
    """
    documents = {document.doc_id: document for document in reversed(v1.pool)}
    pool = [documents[i] for i in dict.fromkeys(document.doc_id for document in v1.pool)]
    last = mixture.sources[-1].source
    taken = {visit.draft.upstream_id for visit in v1.taken}
    records = records_of(sources, last)
    asked = (each for each in records.questions if each.question.question_id not in taken)
    unused = next(asked, None)
    passages = unused.passages if unused else ()
    name = unused.question.question_id if unused else "(none)"
    lacking = max(0, mixture.documents - len(pool))
    appended = [
        document(last, Paragraph(p.key, records.documents[p.place].content, is_gold=False))
        for p in passages
        if p.is_gold
    ][:lacking]
    if len(appended) < lacking:
        raise SamplingError(
            f"source {last}: row {name}, the first that gave no question, brings "
            f"{len(appended)} gold paragraphs where the published set has {lacking}; the file is "
            "not the complete upstream one. benchmark=bears-v1 gives all other documents"
        )
    return pool + appended


def records_of(sources: Sources, name: str) -> SourceRecords:
    """Return the records of a source. Raises SamplingError when the benchmark does not have it."""
    if name not in sources:
        raise SamplingError(
            f"source {name} is asked for under sample, but the benchmark has only "
            f"{', '.join(sources)}; add it to the benchmark's defaults"
        )
    return sources[name]


def question(draft: Draft, gold: Iterable[str]) -> Question:
    """Return the question of a draft, with the ids of its gold documents."""
    return Question(
        question_id=draft.question_id,
        question=draft.asked.question.question,
        gold_answer=next(iter(draft.asked.references), ""),
        gold_doc_ids=tuple(gold),
        source_dataset=draft.source,
        question_type=draft.asked.question.question_type,
    )


def document(source: str, passage: Paragraph) -> Document:
    """Return the document of a passage."""
    identifier = document_id(source, passage.key)
    return Document(identifier, passage.text, source, passage.key, passage.is_gold)


def _taken(quota: Quota, drafts: Iterator[Draft]) -> list[Visit]:
    """Walk until the quota's questions are taken; return every visit."""
    visits: list[Visit] = []
    used: set[str] = set()
    taken = 0
    while taken < quota.questions:
        draft = next(drafts, None)
        if draft is None:
            raise SamplingError(
                f"source {quota.source}: asked for {quota.questions} questions, but only {taken} "
                f"of its {len(visits)} can be used; ask for fewer under sample.sources, or take a "
                "larger file"
            )
        visit = Visit(draft, tuple(p for p in draft.passages if p.text not in used))
        visits.append(visit)
        if visit.taken:
            taken += 1
            used.update(passage.text for passage in visit.kept)
    return visits


def _negatives(mixture: Mixture, sources: Sources, visits: list[Visit]) -> Iterator[Document]:
    used = {passage.text for visit in visits if visit.taken for passage in visit.kept}
    for source in mixture.negatives:
        for given in records_of(sources, source).documents:
            if given.content not in used:
                yield document(source, Paragraph(given.original_id, given.content, is_gold=False))
