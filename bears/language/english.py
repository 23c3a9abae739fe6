"""What the gates know of English sources: months, number words, question words."""

import re

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip

_MONTH = "|".join([*MONTHS, *(f"{month[:3]}\\.?" for month in MONTHS), "sept\\.?"])
# A month beside a number: June Carter and August Wilson are people.
_DATED = re.compile(
    rf"\d(?:st|nd|rd|th)?(?: of)?,? (?P<after>{_MONTH})\b|\b(?P<before>{_MONTH}),? \d", re.I
)

MULTIPLIERS = {
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
}

_QUESTION = re.compile(
    r"\?|\b(?:who|whose|whom|what|which|when|where|why|how)\b|"
    r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b",
    re.I,
)


def months(text: str) -> set[int]:
    """The months (1 to 12) that dates in ``text`` name."""
    found = (match["after"] or match["before"] for match in _DATED.finditer(text))
    return {
        number
        for name in found
        for number, month in enumerate(MONTHS, 1)
        if month.startswith(name[:3].lower())
    }


def spelled_numbers(text: str) -> bool:
    """Whether ``text`` multiplies by words: two hundred, half a million, a dozen."""
    return any(re.search(rf"\b{word}s?\b", text, re.I) for word in MULTIPLIERS)


def asks(text: str) -> bool:
    """Whether ``text`` is a question."""
    return _QUESTION.search(text.strip()) is not None
