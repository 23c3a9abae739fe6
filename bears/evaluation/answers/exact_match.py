"""Exact match of an answer."""

from bears.language.normalization import Normalization


def exact_match(answer: str, reference: str, rules: Normalization) -> float:
    """Return 1 if answer and reference have the same normal form, else 0.

    The best of several references counts.

    Source: the official evaluation of SQuAD 1.1.
    """
    return float(rules.normal_form(answer) == rules.normal_form(reference))
