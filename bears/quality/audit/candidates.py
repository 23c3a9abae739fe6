"""Find documents outside the gold that may answer a question."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from typing import Annotated

from pydantic import Field

from bears.language.tags import unspaced as no_spaces
from bears.quality.audit.audit_pool import PRONOUNS, AuditPool, Sought
from bears.types import ForbidsExtra, Question

Share = Annotated[float, Field(gt=0, le=1)]
Count = Annotated[int, Field(gt=0)]


@dataclass(frozen=True)
class AuditSettings(ForbidsExtra):
    """``audit.signals`` in the configuration.

    Args:
        depth: how many documents of the retriever's ranking are looked at.
        covers: how much of the question the sentences with the answer have, as a multiple of the
            share that the gold document has of it.
        stands_in: share of what a gold document has of its question and of the other gold
            documents, apart from the answer, that a candidate has near the answer.
        alone: the same if there is no other gold document, and for a weak answer.
        subject: share of the pairs of characters of the question's subject that a candidate has,
            see `bears.quality.audit.audit_pool.AuditPool.names_subject`.
        shared: the same for the first rare run that the question shares with the gold document.
        weak_depth: for an answer that says little by itself, how many documents are looked at …
        weak_question: … and how much of the whole question the gold document has.
        common: an answer that is in a greater share of the documents says little.
        common_at_least: an answer may be in this many documents in any case.
        sentences: how many sentences before and after the answer are looked at.
        one_document: greatest share of a multi-hop question that one document with its answer may
            have.
        same: share of a text in another one from which they are near duplicates.
        shingle: characters that are compared at once in languages with spaces between words; a
            third of them in others.
        longest_question: words, or twice as many characters in languages without spaces.
        repeated_passage: a passage that is in more documents is ignored as boilerplate.
    """

    depth: Count
    covers: Annotated[float, Field(gt=0)]
    stands_in: Share
    alone: Share
    subject: Share
    shared: Share
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


_PAIR = 2
MOST = 10_000
"""How many documents, evenly spread, are searched to decide whether an answer is common."""


@dataclass(frozen=True)
class Candidate:
    """A document that may answer a question, and why.

    Args:
        question_id: of the question.
        doc_id: of the document.
        signals: ``rank`` in the retriever's ranking, from 1; ``answer``, see `Candidates`;
            ``instead_of``, the gold document that it could replace; ``stands_in``, the share of
            what that one has of the question, and for a whole answer of what links it to the other
            gold, that this document has near the answer; ``gold_covers``, the share of the question
            that the gold document has; ``covers``, what the sentences with the answer have of the
            question, as a multiple of that; or ``near_duplicate_of``, a gold document, and
            ``same``, the share of the smaller text that is in the other one.
        decision: of a person: relevant, partial or not; empty if there is no decision yet.
    """

    question_id: str
    doc_id: str
    signals: Mapping[str, str | int | float] = field(default_factory=dict)
    decision: str = ""


class Candidates:
    """Find candidates for which several signals agree.

    The document contains the answer, a retriever ranks it high, it names the subject, and the text
    around the answer has what a gold document has of the question.

    An answer is ``weak`` if it is a bare number or a common noun, or if many documents contain it,
    such as a country. Then the document must be among the very first, and the gold document must
    have much of the question. Any other answer is ``whole``.
    """

    def __init__(self, pool: AuditPool, settings: AuditSettings) -> None:
        self._pool, self._settings = pool, settings

    def of(self, question: Question, ranking: Sequence[str]) -> Iterator[Candidate]:
        """Yield the candidates of one question, if finding its answer proves anything.

        Args:
            question: of the pool.
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
        weak = bool(found) and (answer.weak or self._common(answer))
        for rank, doc_id in found:
            if weak and rank > self._settings.weak_depth:
                return
            if signals := self._signals(question, answer, doc_id, weak):
                strength = "weak" if weak else "whole"
                signals = {"answer": strength, "rank": rank, **signals}
                yield Candidate(question.question_id, doc_id, signals)

    def _common(self, answer: Sought) -> bool:
        limit = max(self._settings.common * len(self._counted), self._settings.common_at_least)
        return sum(map(answer.stands_in, self._counted)) > limit

    def _shares_name(self, question: Question, gold_id: str, doc_id: str) -> bool:
        """Return whether a document has the first rare run of question and gold document.

        It is most often the subject. A run of two tokens counts only if there is no longer one;
        then a question that begins with a pronoun cannot be judged. Languages with spaces need no
        such check.
        """
        if not no_spaces(self._pool.language):
            return True
        runs = [
            run
            for run in self._pool.shared_runs(question, gold_id)
            if not self._common(Sought((f" {' '.join(run)} ",), weak=False))
        ]
        if longer := [run for run in runs if len(run) > _PAIR]:
            runs = longer
        elif question.question.startswith(PRONOUNS):
            return False
        return not runs or self._pool.has(doc_id, runs[0], self._settings.shared)

    @cached_property
    def _counted(self) -> list[str]:
        ids = list(self._pool.contents)
        return [self._pool.both(doc_id) for doc_id in ids[:: ceil(len(ids) / MOST) or 1]]

    def _signals(
        self, question: Question, answer: Sought, doc_id: str, weak: bool
    ) -> dict[str, str | int | float]:
        """Return the signals for the gold document that agrees best; empty if none agrees."""
        pool, settings = self._pool, self._settings
        asked = pool.terms_of_text(question.question)
        content = pool.contents[doc_id]
        held = pool.terms_of_text(answer.around(content, settings.sentences))
        # A weak answer is in many sentences, so that a single sentence with it proves nothing.
        near = held if weak else pool.terms_of_text(answer.around(content, 0))
        of_question = pool.share(asked, asked, near)
        best: tuple[float, float, float, str] | None = None
        gold = pool.gold(question)
        least = settings.alone if weak or len(gold) == 1 else settings.stands_in
        for gold_id in gold:
            needed = self._needed(question, answer, gold_id, () if weak else gold)
            gold_covers = pool.share(asked, asked, pool.terms(gold_id))
            covers = of_question / gold_covers if gold_covers else 0.0
            stands_in = pool.share(needed, {**asked, **pool.terms(gold_id)}, held)
            agrees = (
                (not weak or gold_covers >= settings.weak_question)
                and covers >= settings.covers
                and stands_in >= least
                and pool.names_subject(question, gold_id, doc_id, settings.subject)
                and self._shares_name(question, gold_id, doc_id)
            )
            if agrees and (best is None or (stands_in, covers) > best[:2]):
                best = (stands_in, covers, gold_covers, gold_id)
        if best is None:
            return {}
        shares = [round(share, 3) for share in best[:3]]
        named = dict(zip(("stands_in", "covers", "gold_covers"), shares, strict=True))
        return {**named, "instead_of": best[3]}

    def _needed(
        self, question: Question, answer: Sought, gold_id: str, linked: Sequence[str]
    ) -> set[int]:
        """Return the terms that a gold document has of the question or shares with ``linked``.

        The answer's terms are left out, because a candidate has them in any case.
        """
        own = self._pool.terms(gold_id).keys()
        shared = [own & self._pool.terms(doc_id).keys() for doc_id in linked if doc_id != gold_id]
        answers = self._pool.terms_of_text(" ".join(answer.forms)).keys()
        return self._pool.asked_of(question, gold_id).union(*shared) - answers
