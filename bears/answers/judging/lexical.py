"""Judges that compare words. They are free and deterministic."""

from collections.abc import Sequence
from typing import ClassVar

from bears.answers.judging.ruling import Case, Verdict
from bears.language.normalization import normalization_of, without_citations


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


def contains_gold(golds: Sequence[str], answer: str, language: str) -> bool:
    """Return whether the tokens of a gold answer occur one after another in the answer."""
    rules = normalization_of(language)
    forms = map(rules.normal_form, (answer, *golds))
    given, *wanted = (f" {' '.join(rules.tokens(form))} " for form in forms)
    return any(gold.strip() and gold in given for gold in wanted)


def _normal_forms(case: Case, language: str) -> list[str]:
    normal_form = normalization_of(language).normal_form
    return [normal_form(without_citations(text)) for text in (case.answer, *case.golds)]
