"""Recognize by its words an answer that says that it cannot answer."""

import re
from collections.abc import Mapping

from bears.files.intake.yaml_text import table_of
from bears.language.tags import primary
from bears.language.yes_no import LITERAL

_TABLE = table_of(__file__)
_PHRASES: Mapping[str, str] = _TABLE["phrases"]
_YET = re.compile(_TABLE["yet"])
"""What comes before an answer that is given all the same."""
_SENTENCE = re.compile(r"[.!?。！？\n]")


def refuses(answer: str, language: str) -> bool:
    """Return whether an answer begins with words that refuse it, or is QASPER's literal.

    They must be in its first sentence, and no "but" or "however" may follow. It knows German,
    English, Japanese, Korean, Slovenian and Chinese; English is known beside each of them.

    Args:
        language: BCP 47 tag of the answer.
    """
    plain = answer.strip().casefold()
    first = _SENTENCE.split(plain, maxsplit=1)[0]
    patterns = {_PHRASES["en"], _PHRASES.get(primary(language), _PHRASES["en"])}
    found = [match for pattern in patterns if (match := re.search(pattern, first))]
    said = any(not _YET.search(plain, match.end()) for match in found)
    return LITERAL.casefold() in plain or said
