"""Judges that compare words. They are free and deterministic."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

from bears.answers.judging.ruling import Case, Item, Verdict
from bears.language.normalization import normalization_of, without_citations
from bears.language.sentences import sentence_spans
from bears.retrieval.sparse.terms import cjk_bigrams

SUPPORT, PARTIAL = 0.65, 0.4
"""The least shares of the words of a nugget that an answer has.

Like the next three, chosen on people's assignments of TREC's RAG track of 2024: docs/graded.md.
"""
WINDOW = 3
"""How many sentences in a row may state a nugget together."""
BEGINNING = 6
"""How many letters of a word are compared, instead of its stem."""
SHORT = 3
"""Words of at most as many letters are ignored, in scripts with case: they say little."""


class Exact:
    """Passes an answer with the same normal form as a gold answer.

    As in SQuAD's official evaluation, an empty answer equals a gold answer of punctuation alone,
    ``*``.
    """

    scale: ClassVar[str] = "answers"

    def verdict(self, case: Case, language: str) -> Verdict:
        """See `Judge`."""
        answer, *golds = _normal_forms(case, language)
        if not golds:
            return "unscored"
        return "pass" if answer in golds else "fail"


class Contains:
    """Passes an answer that contains the normal form of a gold answer, also within a word.

    A gold answer of punctuation or articles alone has an empty normal form, and passes nothing. If
    no gold answer has another one, the verdict is ``unscored``.
    """

    scale: ClassVar[str] = "answers"

    def verdict(self, case: Case, language: str) -> Verdict:
        """See `Judge`."""
        answer, *golds = _normal_forms(case, language)
        if not any(golds):
            return "unscored"
        return "pass" if any(gold and gold in answer for gold in golds) else "fail"


class NuggetWords:
    """Says which nuggets an answer states, by the share of the words of each.

    A word that n nuggets of the question have counts 1/n. The share is that of the three sentences
    in a row that have most, so that a long answer gains less by its length. Chinese, Japanese and
    Korean are compared by characters and pairs.

    It knows neither synonyms nor negations: it ranks systems, but a single verdict is often wrong.
    """

    scale: ClassVar[str] = "nuggets"

    def verdict(self, case: Item, language: str) -> Verdict:  # noqa: ARG002
        """See `Judge`."""
        answer = case.texts["answer"]
        parts = [_terms(answer[start:end]) for start, end in sentence_spans(answer)]
        having = Counter(term for text in case.beside for term in _telling(text))
        share = _share(_telling(case.texts["nugget"]), parts, having, WINDOW)
        return _word(share, ("support", "partial_support", "not_support"))


class CitationWords:
    """Says whether a passage supports a sentence, by the share of the sentence's words in it.

    The limits are those for nuggets; there are no data with passages to choose others.
    """

    scale: ClassVar[str] = "citations"

    def verdict(self, case: Item, language: str) -> Verdict:  # noqa: ARG002
        """See `Judge`."""
        sentence, passage = _telling(case.texts["sentence"]), _terms(case.texts["passage"])
        share = _share(sentence, [passage], Counter(sentence), 1)
        return _word(share, ("full_support", "partial_support", "no_support"))


def _share(
    wanted: frozenset[str], parts: Sequence[frozenset[str]], having: Counter[str], window: int
) -> float:
    """Return the weighted share of the terms that the best parts in a row have."""
    weights = {term: 1 / max(having[term], 1) for term in sorted(wanted)}
    best = 0.0
    for start in range(max(1, len(parts) - window + 1)):
        there = frozenset[str]().union(*parts[start : start + window])
        best = max(best, sum(weight for term, weight in weights.items() if term in there))
    # Sums of thirds and sevenths may miss a limit that they equal.
    return round(best / sum(weights.values()), 9) if weights else 0.0


def _word(share: float, words: tuple[str, str, str]) -> Verdict:
    if share >= SUPPORT:
        return words[0]
    return words[1] if share >= PARTIAL else words[2]


@lru_cache(10_000)
def _terms(text: str) -> frozenset[str]:
    """Return the beginnings of words."""
    return frozenset(term[:BEGINNING] if term.isalpha() else term for term in cjk_bigrams(text))


def _telling(text: str) -> frozenset[str]:
    """Return the terms of a text without short words, unless there are no others."""
    terms = _terms(text)
    long = {term for term in terms if len(term) > SHORT or not (term.isalpha() and term.islower())}
    return frozenset(long) or terms


def contains_gold(golds: Sequence[str], answer: str, language: str) -> bool:
    """Return whether the tokens of a gold answer occur one after another in the answer."""
    rules = normalization_of(language)
    forms = map(rules.normal_form, (answer, *golds))
    given, *wanted = (f" {' '.join(rules.tokens(form))} " for form in forms)
    return any(gold.strip() and gold in given for gold in wanted)


def _normal_forms(case: Case, language: str) -> list[str]:
    normal_form = normalization_of(language).normal_form
    return [normal_form(without_citations(text)) for text in (case.answer, *case.golds)]
