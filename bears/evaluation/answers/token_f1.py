"""Token F1 of an answer."""

from collections import Counter

from bears.language.normalization import Normalization


def token_f1(answer: str, reference: str, rules: Normalization) -> float:
    """Return the harmonic mean of the precision and the recall of the answer's tokens.

    A token counts as often as both have it. 0 if they share no token, also if both are empty. The
    best of several references counts.

    Source: the official evaluations of SQuAD 1.1 and QASPER; KorQuAD's with its characters.
    """
    found = rules.tokens(rules.normal_form(answer))
    wanted = rules.tokens(rules.normal_form(reference))
    same = sum((Counter(found) & Counter(wanted)).values())
    if not same:
        return 0.0
    precision, recall = same / len(found), same / len(wanted)
    return 2 * precision * recall / (precision + recall)
