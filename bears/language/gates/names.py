"""A name was given that the source does not know."""

import re
import unicodedata

from bears.language.profile import Language
from bears.language.text import Text, parenthesised

_NAME = re.compile(r"[A-ZÀ-ÖØ-Þ][A-Za-zÀ-ÖØ-öø-ɏḀ-ỿ]+")


def invented_name(text: Text, language: Language) -> str | None:
    """A word with a capital stands in parentheses, as originals of names do, but not in the source.

    Nor does its beginning, for Arcadian makes Arcadia, nor is it an abbreviation of the source's
    words, or they one of it.
    """
    if "LATIN" in language.scripts:
        return None
    source = _folded(text.source)
    short = re.findall(r"\b[A-Z]{2,}\b", text.source)
    for piece in parenthesised(text.translation):
        names = _NAME.findall(piece)
        if any(name in _initials(piece) for name in short):
            continue
        for name in names:
            if not _known(name, source, text.source):
                return f"not in the source: {piece!r:.60}"
    return None


def _known(name: str, folded: str, source: str) -> bool:
    if set(name) <= set("IVXL"):
        return re.search(rf"\b{name}\b", source, re.IGNORECASE) is not None
    beginning = _folded(name)[: max(3, len(name) - 2)]
    return beginning in folded or (name.isupper() and name in _initials(source))


def _initials(text: str) -> str:
    return "".join(re.findall(r"\b[A-Z]", text))


def _folded(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in apart if c.isalnum())
