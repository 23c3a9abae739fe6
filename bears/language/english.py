"""English words that the gates look for in a source: months, number words, question words."""

import re
from collections.abc import Mapping, Sequence

from bears.files.intake.yaml_text import table_of
from bears.language.profile import Kind

_TABLE = table_of(__file__)
MONTHS: Sequence[str] = _TABLE["months"]
MULTIPLIERS: Mapping[str, int] = _TABLE["multipliers"]
NAMES_PASSAGE: Sequence[str] = _TABLE["names_passage"]
LEANS: Sequence[str] = _TABLE["leans"]

_MONTH = "|".join([*MONTHS, *(f"{month[:3]}\\.?" for month in MONTHS), "sept\\.?"])
# A month must be next to a number, because June Carter and August Wilson are people. The words may
# and march must have capitals.
_DATED = re.compile(
    rf"\d(?:st|nd|rd|th)?(?: of)?,? (?!(?-i:may|march))(?P<after>{_MONTH})\b"
    rf"|\b(?!(?-i:may|march))(?P<before>{_MONTH}),? \d",
    re.I,
)

_AUXILIARIES = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b"
_KINDS: Mapping[Kind, str] = _TABLE["kinds"]
_AUXILIARY = re.compile(_AUXILIARIES, re.I)
_QUESTION = re.compile(rf"\?|\b(?:{'|'.join(_KINDS.values())})\b|^{_AUXILIARY.pattern}", re.I)


def months(text: str) -> set[int]:
    """Return the months (1 to 12) that dates in ``text`` name."""
    found = (match["after"] or match["before"] for match in _DATED.finditer(text))
    return {
        number
        for name in found
        for number, month in enumerate(MONTHS, 1)
        if month.startswith(name[:3].lower())
    }


def spelled_numbers(text: str) -> bool:
    """Return whether ``text`` multiplies by words: two hundred, half a million, a dozen."""
    words = (*(name for name in MULTIPLIERS if len(name) > 2), "a (?:half )?century")
    return any(re.search(rf"\b{word}s?\b", text, re.I) for word in words)


def kinds_of(text: str) -> set[Kind]:
    """Return what a question asks for; `Mood.kinds_of` does the same for a translation.

    The set is empty if that is not clear ("Do they know who …").
    """
    found = {kind for kind, words in _KINDS.items() if re.search(rf"\b(?:{words})\b", text, re.I)}
    if not _AUXILIARY.match(text.strip()):
        return found
    plain = not found and not re.match(r"\w+ (?:you|we|i)\b", text.strip(), re.I)
    return {"choice" if re.search(r"\bor\b", text) else "yes_no"} if plain else set()


def asks(text: str) -> bool:
    """Return whether ``text`` is a question."""
    return _QUESTION.search(text.strip()) is not None
