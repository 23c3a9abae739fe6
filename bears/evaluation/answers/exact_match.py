"""Exact match of an answer."""

from bears.language.normalisation import Normalisation


def exact_match(answer: str, reference: str, rules: Normalisation) -> float:
    """Return 1 if answer and reference have the same normal form, else 0.

    The best of several references counts.

    Source: the official evaluation of SQuAD 1.1.
    """
    return float(rules.normal_form(answer) == rules.normal_form(reference))
