"""The input of an audit: questions, the forms of their answers, and documents."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from math import fsum

from bears.language.normalization import unspaced
from bears.language.sentences import sentence_ends
from bears.language.tags import unspaced as no_spaces
from bears.language.text import parenthesised, without_parentheses
from bears.language.yes_no import yes_or_no
from bears.types import Document, Question

_NAME = 4
"""How many letters a text in parentheses needs to be a name."""
_UNIT = 3
"""A number with up to this many letters has a unit, and is still a bare number."""


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


PRONOUNS = tuple("他她它牠祂其該该此這这彼")
"""With one of these a question begins whose subject is named elsewhere."""
DATES = frozenset("年月日世")
"""Characters after a number of a date; such a number does not belong to a name."""
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

    def names_subject(self, question: Question, gold_id: str, doc_id: str, least: float) -> bool:
        """Return whether a document names the question's own subject.

        The subject is the beginning of the gold document, as far as the question contains it,
        because articles begin with their title; and a number that both have, such as that of a bus
        route. Articles written to one pattern share everything else. Only languages without spaces
        need this check, because a name may be missing from their terms. A document names the
        subject if it has all its characters, and most of its pairs of adjacent characters.

        Args:
            question: of the pool.
            gold_id: one of its gold documents.
            doc_id: the other document.
            least: the share of the pairs that counts as most.
        """
        if not no_spaces(self.language):
            return True
        asked, text = self.normal(question.question), self.both(doc_id)
        gold = self.normal(self.contents[gold_id])
        numbers = [pair for pair in _numbers(asked) if pair in gold]
        subject = _beginning(gold, asked)
        whole = all(f" {token} " in text for token in subject)
        return whole and self.has(doc_id, subject, least) and all(n in text for n in numbers)

    def has(self, doc_id: str, run: Sequence[str], least: float) -> bool:
        """Return whether a document has a share of a run's pairs of adjacent tokens."""
        pairs = [f" {one} {other} " for one, other in pairwise(run)]
        return sum(pair in self.both(doc_id) for pair in pairs) >= least * len(pairs)

    def shared_runs(self, question: Question, doc_id: str) -> list[list[str]]:
        """Return the longest runs of two tokens or more that a question shares with a document."""
        text, tokens = self.normal(self.contents[doc_id]), self.normal(question.question).split()
        runs, end = [], 0
        for start in range(len(tokens)):
            run = _beginning(" ".join(tokens[start:]), text)
            # A run that ends where an earlier one ends is a part of it.
            if len(run) > 1 and start + len(run) > end:
                end = start + len(run)
                runs.append(run)
        return runs

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


def _beginning(normal: str, asked: str) -> list[str]:
    """Return the first tokens of a normalized text, as far as ``asked`` contains them."""
    found: list[str] = []
    for token in normal.split():
        if f" {' '.join([*found, token])} " not in asked:
            break
        found.append(token)
    return found


def _numbers(normal: str) -> list[str]:
    """Return the numbers of a normalized text, each with the token after it, without dates."""
    return [
        f" {one} {other} "
        for one, other in pairwise(normal.split())
        if any(map(str.isdigit, one)) and other not in DATES
    ]
