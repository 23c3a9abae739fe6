"""Documents that nobody judged and that may answer a question."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from typing import Annotated

from pydantic import Field

from bears.quality.audit.pool import AuditPool, Sought
from bears.types import Closed, Question

Share = Annotated[float, Field(gt=0, le=1)]
Count = Annotated[int, Field(gt=0)]


@dataclass(frozen=True)
class AuditSettings(Closed):
    """As ``audit.signals`` in the configuration has it.

    Args:
        depth: how many documents of the retriever's ranking are looked at.
        covers: the sentences with the answer have so much of the question, as a multiple of the
            share that the gold document has of it.
        stands_in: share of what a gold document has of its question, and of the other gold
            documents, that a candidate has too, near the answer, beside the answer itself.
        alone: the same where there is no other gold document, and for a weak answer.
        subject: share of the pairs of characters of the question's own subject that a candidate
            has, see `bears.quality.audit.pool.AuditPool.names_subject`.
        weak_depth: for an answer that says little by itself, how many are looked at instead …
        weak_question: … of a gold document that has so much of the whole question.
        common: an answer that stands in a greater share of the documents says little.
        common_at_least: in as many documents it may stand in any case.
        sentences: of a candidate so many before and after the answer are looked at.
        one_document: share of a multi-hop question that one document with its answer has at most.
        same: share of a text that stands in another one, from which they are near duplicates.
        shingle: characters that are compared at once, where spaces part words; a third of them
            elsewhere.
        longest_question: words, or twice as many characters where no spaces part words.
        repeated_passage: a passage that stands in more documents is what all of them have.
    """

    depth: Count
    covers: Annotated[float, Field(gt=0)]
    stands_in: Share
    alone: Share
    subject: Share
    weak_depth: Count
    weak_question: Share
    common: Share
    common_at_least: Count
    sentences: Count
    one_document: Share
    same: Share
    shingle: Annotated[int, Field(ge=6)]
    longest_question: Count
    repeated_passage: Annotated[int, Field(ge=2)]

    def agree(
        self, stands_in: float, covers: float, gold_covers: float, weak: bool, alone: bool
    ) -> bool:
        """Whether the shares make a candidate; see the settings of their names."""
        least = self.alone if weak or alone else self.stands_in
        much = not weak or gold_covers >= self.weak_question
        return much and covers >= self.covers and stands_in >= least


MOST = 10_000
"""Documents of a larger pool that are counted, spread evenly, for how common an answer is."""


@dataclass(frozen=True)
class Candidate:
    """A document that may answer a question, and why.

    Args:
        signals: ``rank`` in the retriever's ranking, from 1; ``answer`` as `Candidates` has it;
            ``instead_of``, the gold document whose place it could take; ``stands_in``, the share of
            what that one has of the question, and for a whole answer of what links it to the other
            gold, that this one has near the answer, beside the answer itself; ``gold_covers``, the
            share of the question that the gold document has; ``covers``, what the sentences with
            the answer have of the question, as a multiple of that; or ``near_duplicate_of``, a gold
            document, and ``same``, the share of the smaller text that stands in the other one.
        decision: of a person: relevant, partial, not; empty as long as there is none.
    """

    question_id: str
    doc_id: str
    signals: Mapping[str, str | int | float] = field(default_factory=dict)
    decision: str = ""


class Candidates:
    """Finds them by signals that agree: the answer stands there, a retriever ranks the document
    high, it names the subject, and around the answer it has what a gold document has of the
    question.

    An answer that is a bare number or a common noun, or that many documents hold (as a country), is
    ``weak``: then the document must be among the very first, and the gold document have much of the
    question. Any other is ``whole``.
    """

    def __init__(self, pool: AuditPool, settings: AuditSettings) -> None:
        self._pool, self._settings = pool, settings

    def of(self, question: Question, ranking: Sequence[str]) -> Iterator[Candidate]:
        """The candidates of one question.

        Args:
            question: with an answer that is evidence; another one has no candidates.
            ranking: the retriever's doc_ids, best first.
        """
        answer = self._pool.sought.get(question.question_id)
        gold = self._pool.gold(question)
        if answer is None or not gold:
            return
        found = [
            (rank, doc_id)
            for rank, doc_id in enumerate(ranking[: self._settings.depth], start=1)
            if doc_id not in gold and self._pool.holds(doc_id, answer)
        ]
        weak = bool(found) and self._weak(answer)
        for rank, doc_id in found:
            if weak and rank > self._settings.weak_depth:
                return
            if signals := self._signals(question, answer, doc_id, weak):
                strength = "weak" if weak else "whole"
                signals = {"answer": strength, "rank": rank, **signals}
                yield Candidate(question.question_id, doc_id, signals)

    def _weak(self, answer: Sought) -> bool:
        if answer.weak:
            return True
        limit = max(self._settings.common * len(self._counted), self._settings.common_at_least)
        texts = enumerate(self._counted)
        return len({i for i, text in texts for form in answer.forms if form in text}) > limit

    @cached_property
    def _counted(self) -> list[str]:
        ids = list(self._pool.contents)
        return [self._pool.both(doc_id) for doc_id in ids[:: ceil(len(ids) / MOST) or 1]]

    def _signals(
        self, question: Question, answer: Sought, doc_id: str, weak: bool
    ) -> dict[str, str | int | float]:
        """The signals of the gold document that it agrees with best; none where it does not."""
        pool, settings = self._pool, self._settings
        asked = pool.terms_of_text(question.question)
        content = pool.contents[doc_id]
        held = pool.terms_of_text(answer.around(content, settings.sentences))
        # A weak answer stands in many a sentence, and so says nothing of the one that it stands in.
        near = held if weak else pool.terms_of_text(answer.around(content, 0))
        of_question = pool.share(asked, asked, near)
        best: tuple[float, float, float, str] | None = None
        gold = pool.gold(question)
        for gold_id in gold:
            needed = self._needed(question, answer, gold_id, () if weak else gold)
            gold_covers = pool.share(asked, asked, pool.terms(gold_id))
            covers = of_question / gold_covers if gold_covers else 0.0
            stands_in = pool.share(needed, {**asked, **pool.terms(gold_id)}, held)
            agrees = settings.agree(
                stands_in, covers, gold_covers, weak, len(gold) == 1
            ) and pool.names_subject(question, gold_id, doc_id, settings.subject)
            if agrees and (best is None or (stands_in, covers) > best[:2]):
                best = (stands_in, covers, gold_covers, gold_id)
        if best is None:
            return {}
        shares = [round(share, 3) for share in best[:3]]
        return dict(zip(("stands_in", "covers", "gold_covers"), shares, strict=True)) | {
            "instead_of": best[3]
        }

    def _needed(
        self, question: Question, answer: Sought, gold_id: str, linked: Sequence[str]
    ) -> set[int]:
        """The terms that a gold document has of the question, and those that it shares with another
        one of ``linked``; without the answer's, which are there in any case."""
        own = self._pool.terms(gold_id).keys()
        shared = [own & self._pool.terms(doc_id).keys() for doc_id in linked if doc_id != gold_id]
        answers = self._pool.terms_of_text(" ".join(answer.forms)).keys()
        return self._pool.asked_of(question, gold_id).union(*shared) - answers
