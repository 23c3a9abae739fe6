"""The sampler of BEARS v1, defects included.

Its defects, kept here on purpose: a paragraph that a row lists twice becomes two documents with
one id; a paragraph shared with an earlier question is dropped from the later one; a question
passed over leaves its other paragraphs in the pool; a random negative is named by its rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from bears.errors import SamplingError
from bears.sampling.identity import document_id, question_id
from bears.sampling.recipe import Recipe, Share
from bears.sampling.walk import Draft, Rows, Sources, Visit, paragraphs, shuffled_drafts, take
from bears.types import Document, Passage, PassageRow, Question


@dataclass(frozen=True, slots=True)
class Negative:
    """An unused paragraph; ``rank`` counts the unused ones in file order, from 0."""

    source: str
    original_id: str
    text: str
    rank: int


@dataclass(frozen=True)
class Origin:
    """What v1's steps give.

    Args:
        visits: every row the walk came by, source by source.
        rest: for each source the drafts that the walk did not reach, in walking order.
        negatives: every unused paragraph, in shuffled order.
        pool: the documents in their final order.
    """

    visits: list[Visit]
    rest: dict[str, Iterator[Draft]]
    negatives: list[Negative]
    pool: list[Document]

    @property
    def taken(self) -> list[Visit]:
        return [visit for visit in self.visits if visit.taken]

    def questions(self) -> list[Question]:
        """v1's questions, whose gold lacks what an earlier question used."""
        return [
            question(visit.draft, [p.key for p in visit.kept if p.is_gold]) for visit in self.taken
        ]


def sample_origin(recipe: Recipe, sources: Sources) -> Origin:
    """Run v1's sampling; one random generator is shared by all its steps.

    Args:
        recipe: the composition.
        sources: rows by source name.

    Raises:
        SamplingError: a source has fewer usable questions than asked, or is not there.
    """
    rng = Random(recipe.seed)
    visits: list[Visit] = []
    rest: dict[str, Iterator[Draft]] = {}
    for share in recipe.sources:
        drafts = shuffled_drafts(share.source, rows_of(sources, share.source), rng)
        visits += _take_all(share, drafts)
        rest[share.source] = drafts
    negatives = _negatives(recipe, sources, visits)
    rng.shuffle(negatives)
    pool = [document(v.draft.source, p) for v in visits if v.taken for p in v.kept if p.is_gold]
    pool += [document(v.draft.source, p) for v in visits for p in v.kept if not p.is_gold]
    missing = max(0, recipe.documents - len(pool))
    pool += [ranked_negative(negative) for negative in negatives[:missing]]
    rng.shuffle(pool)
    return Origin(visits, rest, negatives, pool)


def corrected_by_hand(origin: Origin, recipe: Recipe, sources: Sources) -> list[Document]:
    """What the author published: second copies removed, and documents appended in their place.

    Those are the gold paragraphs of the first row of the last source's file that gave no
    question; they are gold of nothing.

    Raises:
        SamplingError: that row does not bring as many paragraphs as there were second copies.
    """
    documents = {document.doc_id: document for document in reversed(origin.pool)}
    pool = [documents[i] for i in dict.fromkeys(document.doc_id for document in origin.pool)]
    last = recipe.sources[-1].source
    taken = {visit.draft.upstream_id for visit in origin.taken}
    unused = next((row for row in rows_of(sources, last) if row.id not in taken), None)
    passages = unused.passages if isinstance(unused, PassageRow) else ()
    name = unused.id if unused else "(none)"
    lacking = max(0, recipe.documents - len(pool))
    appended = [
        document(last, Passage(f"{name}_{p.key}", p.text, is_gold=False))
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


def rows_of(sources: Sources, name: str) -> Rows:
    """The rows of a source. Raises SamplingError when the benchmark does not have it."""
    if name not in sources:
        raise SamplingError(
            f"source {name} is asked for under sample, but the benchmark has only "
            f"{', '.join(sources)}; add it to the benchmark's defaults"
        )
    return sources[name]


def question(draft: Draft, gold_keys: list[str]) -> Question:
    """The question that a draft becomes, with the documents named by ``gold_keys`` as its gold."""
    return Question(
        question_id=question_id(draft.source, draft.upstream_id),
        question=draft.question,
        gold_answer=draft.answer,
        gold_doc_ids=tuple(document_id(draft.source, key) for key in gold_keys),
        source_dataset=draft.source,
        question_type=draft.question_type,
    )


def document(source: str, passage: Passage) -> Document:
    """The document that a passage becomes."""
    identifier = document_id(source, passage.key)
    return Document(identifier, passage.text, source, passage.key, passage.is_gold)


def ranked_negative(negative: Negative) -> Document:
    """A random negative as v1 names it: its id comes from its rank, not from its paragraph."""
    identifier = document_id(negative.source, f"neg_{negative.rank}")
    return Document(identifier, negative.text, negative.source, negative.original_id, False)


def _take_all(share: Share, drafts: Iterator[Draft]) -> list[Visit]:
    visits = take(drafts, share.questions)
    found = sum(visit.taken for visit in visits)
    if found < share.questions:
        raise SamplingError(
            f"source {share.source}: asked for {share.questions} questions, but only {found} of "
            f"its {len(visits)} can be used; ask for fewer under sample.sources, or take a "
            "larger file"
        )
    return visits


def _negatives(recipe: Recipe, sources: Sources, visits: list[Visit]) -> list[Negative]:
    used = {passage.text for visit in visits if visit.taken for passage in visit.kept}
    unused = (
        (name, identifier, text)
        for name in recipe.negatives
        for identifier, text in paragraphs(rows_of(sources, name))
        if text not in used
    )
    return [Negative(*parts, rank) for rank, parts in enumerate(unused)]
