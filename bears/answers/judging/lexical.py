"""Judges that compare words. They cost nothing, and say the same every time."""

from collections.abc import Sequence

from bears.answers.judging.ruling import Verdict
from bears.language.normalisation import normalisation_of, without_citations


class Exact:
    """Passes an answer whose normal form is that of a gold answer, as its language has them.

    As in SQuAD's official evaluation an answer of nothing equals a gold answer of punctuation
    alone, ``*``.
    """

    def verdict(self, question: str, golds: Sequence[str], answer: str, language: str) -> Verdict:
        """See `Judge`."""
        del question
        given, *forms = _normal_forms([answer, *golds], language)
        if not forms:
            return "unscored"
        return "pass" if given in forms else "fail"


class Contains:
    """As `Exact`, where the gold answer's normal form stands in the answer's, within a word too.

    A gold answer that is nothing but punctuation or articles has no normal form, and passes
    nothing; where no gold answer has one, the verdict is ``unscored``.
    """

    def verdict(self, question: str, golds: Sequence[str], answer: str, language: str) -> Verdict:
        """See `Judge`."""
        del question
        given, *forms = _normal_forms([answer, *golds], language)
        if not any(forms):
            return "unscored"
        return "pass" if any(form and form in given for form in forms) else "fail"


def gold_stands(golds: Sequence[str], answer: str, language: str) -> bool:
    """Whether a gold answer's tokens stand in the answer one after another, never within a word."""
    rules = normalisation_of(language)
    forms = map(rules.normal_form, (answer, *golds))
    given, *wanted = (f" {' '.join(rules.tokens(form))} " for form in forms)
    return any(gold.strip() and gold in given for gold in wanted)


def _normal_forms(texts: Sequence[str], language: str) -> list[str]:
    normal_form = normalisation_of(language).normal_form
    return [normal_form(without_citations(text)) for text in texts]
