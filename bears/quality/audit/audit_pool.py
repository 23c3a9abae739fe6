"""The input of an audit, and the documents in it, outside the gold, that may answer a question."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from math import ceil, fsum
from typing import Annotated

from pydantic import Field

from bears.language.normalization import unspaced
from bears.language.sentences import sentence_ends
from bears.language.text import parenthesised, without_parentheses
from bears.language.yes_no import yes_or_no
from bears.types import Document, ForbidsExtra, Positive, Question

_NAME = 4
"""How many letters a text in parentheses needs to be a name."""
_UNIT = 3
"""A number with up to this many letters has a unit, and is still a bare number."""
Share = Annotated[float, Field(gt=0, le=1)]


@dataclass(frozen=True)
class Sought:
    """The forms of an answer, each as tokens with a space around every one.

    Attributes:
        forms: any of which is the answer.
        weak: whether it is a bare number, a year, or a common noun, judging by its capitals.
    """

    forms: tuple[str, ...]
    weak: bool

    def stands_in(self, normal: str) -> bool:
        """Return whether a normalized text with spaces around it contains one of the forms."""
        return any(form in normal for form in self.forms)

    def around(self, text: str, sentences: int) -> str:
        """Return the sentences with the answer, and as many ``sentences`` before and after each.

        If no single sentence contains the answer, return the whole text.
        """
        ends = [0, *sentence_ends(text), len(text)]
        pieces = [text[start:end] for start, end in pairwise(ends)]
        holding = [i for i, piece in enumerate(pieces) if self.stands_in(f" {unspaced(piece)} ")]
        near = {
            i + step
            for i in holding
            for step in range(-sentences, sentences + 1)
            if 0 <= i + step < len(pieces)
        }
        return "".join(pieces[i] for i in sorted(near)) if near else text


def sought(
    questions: Collection[str], answers: Collection[str], languages: Collection[str]
) -> Sought | None:
    """Return the forms in which to search for an answer, in any of its languages.

    Return None if finding it would prove nothing: it is a yes or a no, it is empty, or the question
    contains it ("A or B").
    """
    if any(yes_or_no(answer, tag) for answer in answers for tag in languages):
        return None
    forms = dict.fromkeys(form for answer in answers for form in _forms(answer))
    asked = [f" {_plain(question)} " for question in questions]
    if not forms or any(form in text for form in forms for text in asked):
        return None
    number = all(any(c.isdigit() for c in form) and _letters(form) <= _UNIT for form in forms)
    letters = "".join(answers)
    noun = letters == letters.lower() != letters.upper()
    return Sought(tuple(forms), number or noun)


def _forms(answer: str) -> list[str]:
    names = [name for name in parenthesised(answer) if _letters(name) >= _NAME]
    plain = (_plain(form) for form in (answer, without_parentheses(answer), *names))
    return [f" {form} " for form in plain if form]


def _plain(text: str) -> str:
    return unspaced(text).removeprefix("the ")


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


Terms = Mapping[int, float]
"""Term to its idf."""


class AuditPool:
    """A benchmark in its own language, beside the texts that it was translated from.

    Args:
        questions: after translation.
        documents: after translation.
        raw_questions: before translation; the same objects if nothing was translated.
        raw_documents: before translation; the same objects if nothing was translated.
        terms: returns the terms of a text that occur in the documents, with their idf.
        languages: source to the BCP 47 tag of its texts before translation.
        language: the tag after translation.
    """

    def __init__(
        self,
        questions: Sequence[Question],
        documents: Sequence[Document],
        raw_questions: Sequence[Question],
        raw_documents: Sequence[Document],
        terms: Callable[[str], Terms],
        languages: Mapping[str, str],
        language: str,
    ) -> None:
        self.questions, self.language = questions, language
        self.contents = {document.doc_id: document.content for document in documents}
        self._raw_questions = {question.question_id: question for question in raw_questions}
        self._raw_contents = {document.doc_id: document.content for document in raw_documents}
        self._languages = languages
        # The same few texts are used again and again.
        self.terms_of_text = cache(terms)
        self.normal = cache(lambda text: f" {unspaced(text)} ")
        self.both = cache(self._both)

    def terms(self, doc_id: str) -> Terms:
        """Return the terms of a document."""
        return self.terms_of_text(self.contents[doc_id])

    def raw(self, question: Question) -> Question:
        """Return the question before translation; the question itself if none is known."""
        return self._raw_questions.get(question.question_id, question)

    def raw_content(self, doc_id: str) -> str:
        """Return the text of a document before translation."""
        return self._raw_contents.get(doc_id, self.contents[doc_id])

    def gold(self, question: Question) -> list[str]:
        """Return the gold documents of a question that are in the pool."""
        return [doc_id for doc_id in question.gold_doc_ids if doc_id in self.contents]

    @cached_property
    def sought(self) -> dict[str, Sought]:
        """Return question_id to the forms of its answer, for answers that are evidence."""
        found = {}
        for question in self.questions:
            raw = self.raw(question)
            tags = {self.language, self._languages.get(question.source_dataset, self.language)}
            answers = (question.gold_answer, raw.gold_answer)
            if wanted := sought((question.question, raw.question), answers, tags):
                found[question.question_id] = wanted
        return found

    def asked_of(self, question: Question, doc_id: str) -> set[int]:
        """Return the terms of the question that a document has."""
        return self.terms_of_text(question.question).keys() & self.terms(doc_id).keys()

    def holds(self, doc_id: str, answer: Sought) -> bool:
        """Return whether a document has the answer as whole tokens, after or before translation."""
        return answer.stands_in(self.both(doc_id))

    def _both(self, doc_id: str) -> str:
        # There are two spaces between the texts, so that no answer spans them.
        texts = dict.fromkeys([self.contents[doc_id], self.raw_content(doc_id)])
        return "".join(map(self.normal, texts))

    def share(self, terms: Iterable[int], weights: Terms, held: Iterable[int]) -> float:
        """Return the share by idf of ``terms`` that are among ``held``; 0 if there are no terms."""
        wanted = sorted(terms)
        whole = fsum(weights[term] for term in wanted)
        there = set(held)
        return fsum(weights[term] for term in wanted if term in there) / whole if whole else 0.0


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

    depth: Positive
    covers: Annotated[float, Field(gt=0)]
    stands_in: Share
    alone: Share
    weak_depth: Positive
    weak_question: Share
    common: Share
    common_at_least: Positive
    sentences: Positive
    one_document: Share
    same: Share
    shingle: Annotated[int, Field(ge=6)]
    longest_question: Positive
    repeated_passage: Annotated[int, Field(ge=2)]


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

    The document contains the answer, a retriever ranks it high, and the text around the answer has
    what a gold document has of the question.

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
