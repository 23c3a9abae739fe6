"""Whether an unanswerable question is recognized."""

from bears.language.yes_no import LITERAL


def unanswerable_detection(answer: str) -> float:
    """Return 1 if the answer says "unanswerable", in any case and among other words, else 0.

    Averaged over the questions that any annotator calls unanswerable. The word is QASPER's literal
    in every language.

    Source: ours, beside QASPER's F1.
    """
    return float(LITERAL.casefold() in answer.casefold())
