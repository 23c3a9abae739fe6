"""Token F1 of an answer."""

from collections import Counter

from bears.language.normalisation import Normalisation


def token_f1(answer: str, reference: str, rules: Normalisation) -> float:
    """Harmonic mean of the shares of the tokens that answer and reference have in common.

    A token counts as often as both have it. 0 where nothing is in common, also where both are
    empty. Over several references the best one counts.

    Source: the official evaluations of SQuAD 1.1 and QASPER; KorQuAD's with its characters.
    """
    found = rules.tokens(rules.normal_form(answer))
    wanted = rules.tokens(rules.normal_form(reference))
    same = sum((Counter(found) & Counter(wanted)).values())
    if not same:
        return 0.0
    precision, recall = same / len(found), same / len(wanted)
    return 2 * precision * recall / (precision + recall)
