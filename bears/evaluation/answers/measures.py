"""The measures of one answer: those of official evaluations, and ours beside them."""

from collections import Counter
from collections.abc import Collection, Sequence

from bears.language.normalization import Normalization
from bears.language.yes_no import LITERAL, first_yes_or_no, yes_or_no


def token_f1(answer: str, reference: str, rules: Normalization) -> float:
    """Return the harmonic mean of the precision and the recall of the answer's tokens.

    A token counts as often as both have it. 0 if they share no token, also if both are empty. The
    best of several references counts.

    Source: the official evaluations of SQuAD 1.1 and QASPER; KorQuAD's with its characters.
    """
    found = rules.tokens(rules.normal_form(answer))
    wanted = rules.tokens(rules.normal_form(reference))
    same = sum((Counter(found) & Counter(wanted)).values())
    return _f1(same, len(found), len(wanted))


def exact_match(answer: str, reference: str, rules: Normalization) -> float:
    """Return 1 if answer and reference have the same normal form, else 0.

    The best of several references counts.

    Source: the official evaluation of SQuAD 1.1.
    """
    return float(rules.normal_form(answer) == rules.normal_form(reference))


def evidence_f1(evidence: Collection[str], reference: Collection[str]) -> float:
    """Return the harmonic mean of the precision and the recall of the named paragraphs.

    1 if both are empty, as for an unanswerable question. A repeated paragraph counts twice in the
    divisor and once as a hit. The best of several references counts.

    Source: the official evaluation of QASPER.
    """
    if not evidence and not reference:
        return 1.0
    return _f1(len(set(evidence) & set(reference)), len(evidence), len(reference))


def yes_no_accuracy(answer: str, references: Sequence[str], language: str) -> float:
    """Return 1 if the first yes or no in the answer is that of a yes-or-no reference, else 0.

    Averaged over the questions that any annotator answered by yes or no. In scripts without
    spaces, and in Korean, the answer must begin with the word. 0 without such a word. QASPER's
    literals Yes and No are references, and answers, in every language.

    Source: ours, beside QASPER's F1, in which "Yes, they do" is worth 1/2.
    """
    if answer.strip() in references:
        return 1.0
    word = first_yes_or_no(answer, language)
    meant = {yes_or_no(text, language) or yes_or_no(text, "en") for text in references}
    return float(word is not None and word in meant)


def unanswerable_detection(answer: str) -> float:
    """Return 1 if the answer says "unanswerable", in any case and among other words, else 0.

    Averaged over the questions that any annotator calls unanswerable. The word is QASPER's literal
    in every language.

    Source: ours, beside QASPER's F1.
    """
    return float(LITERAL.casefold() in answer.casefold())


def _f1(same: int, found: int, wanted: int) -> float:
    """Return the harmonic mean of precision and recall, 0 if nothing is the same."""
    if not same:
        return 0.0
    precision, recall = same / found, same / wanted
    return 2 * precision * recall / (precision + recall)
