"""F1 of the evidence that an answer names."""

from collections.abc import Collection


def evidence_f1(evidence: Collection[str], reference: Collection[str]) -> float:
    """Harmonic mean of the shares of the paragraphs that answer and reference have in common.

    1 where both are empty, as for an unanswerable question. A paragraph that is named twice
    divides twice and counts once. Over several references the best one counts.

    Source: the official evaluation of QASPER.
    """
    if not evidence and not reference:
        return 1.0
    same = len(set(evidence) & set(reference))
    if not same:
        return 0.0
    precision, recall = same / len(evidence), same / len(reference)
    return 2 * precision * recall / (precision + recall)
