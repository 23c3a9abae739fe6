"""Whether a yes-or-no question is answered by the right word, whatever stands around it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from bears.evaluation.answers.normalisation import normalisation_of

KEYWORDS: Mapping[str, tuple[str, str]] = {
    "en": (r"\byes\b", r"\bno\b"),
    "de": (r"\bja\b", r"\bnein\b"),
    "sl": (r"\bda\b", r"\bne\b"),
    "ko": (r"^(?:예|네)\b", "^아니"),
    "zh": ("^[是對对有會会]", "^[否不沒没無无非]"),
    "ja": ("^はい", "^いいえ"),
}
"""How a yes and a no look in the normal form, by primary subtag; without an own one, English."""


def yes_no_accuracy(answer: str, references: Sequence[str], language: str) -> float:
    """1 if the first word of yes or no in the answer is that of a yes-or-no reference, else 0.

    Counted over the questions that any annotator answered by yes or no. In scripts without
    spaces, and in Korean, the answer must begin with the word. 0 without such a word.

    Source: ours, beside QASPER's F1, in which "Yes, they do" is worth 1/2.
    """
    said = keyword(answer, language)
    return float(said is not None and said in {keyword(text, language) for text in references})


def keyword(text: str, language: str) -> Literal["yes", "no"] | None:
    """The first word of yes or no in ``text``; the literals Yes and No count in every language."""
    if text.strip() in ("Yes", "No"):
        return "yes" if text.strip() == "Yes" else "no"
    yes, no = KEYWORDS.get(language.split("-", 1)[0].lower(), KEYWORDS["en"])
    normal = normalisation_of(language).normal_form(text)
    positive, negative = re.search(yes, normal), re.search(no, normal)
    if positive and (not negative or positive.start() < negative.start()):
        return "yes"
    return "no" if negative else None
