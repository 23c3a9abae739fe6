"""F1 and exact match as CiteBite, an earlier program, computes them on QASPER."""

import re
from collections import Counter

NO_WORD = re.compile(r"\W+", re.ASCII)


def citebite_f1(answer: str, reference: str) -> float:
    """Return the F1 of the multisets of words, 0 where it is undefined.

    A word is a run of ASCII letters, digits and underscores in the lower-case text. Unlike in
    `answer_f1`, articles count. The best of several references counts. Defined for answers in
    English only.

    Source: the evaluation of CiteBite.
    """
    found, wanted = words(answer), words(reference)
    same = (Counter(found) & Counter(wanted)).total()
    return 2 * same / (len(found) + len(wanted)) if same else 0.0


def citebite_em(answer: str, reference: str) -> float:
    """Return 1 if answer and reference have the same words in the same order, else 0.

    The best of several references counts, separately from that of `citebite_f1`.

    Source: the evaluation of CiteBite.
    """
    return float(words(answer) == words(reference))


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return NO_WORD.sub(" ", text.lower()).split()
