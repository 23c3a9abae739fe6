"""Find single words that are lost, invented, or of another script or variant of the language."""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from bears.language.profile import Language, Variant
from bears.language.scripts import letters, script_of, script_share
from bears.language.tags import primary
from bears.language.text import QUOTES, Text, parenthesised, without_marked, without_parentheses


def lost_word(text: Text, language: Language) -> str | None:
    """Find a lost number, relation or order that is essential to the question."""
    return _lost(text, language.lexicon)


def lost_detail(text: Text, language: Language) -> str | None:
    """Find a lost profession, nationality, birth or death; idioms may avoid the word."""
    return _lost(text, language.details)


def _lost(text: Text, lexicon: Mapping[str, str]) -> str | None:
    """Find words of the lexicon in an English question without any of their renderings.

    Quotations are ignored and case counts, because titles have such words too (Two Sisters).
    """
    if text.field != "question" or primary(text.source_language) != "en":
        return None
    source = without_marked(text.source, QUOTES)
    lost = [
        found.group()
        for word, rendering in lexicon.items()
        if (found := re.search(rf"(?<![\w\-])(?:{word})(?![\w\-])", source))
        and not re.search(rendering, text.translation)
    ]
    return f"lost: {', '.join(lost)}" if lost else None


_NAME = re.compile(r"[A-ZÀ-ÖØ-Þ][A-Za-zÀ-ÖØ-öø-ɏḀ-ỿ]+")


def invented_name(text: Text, language: Language) -> str | None:
    """Find a capitalized word in parentheses, like the original of a name, that the source lacks.

    The source has a name if it has its beginning, because Arcadian becomes Arcadia, or if one of
    them is an abbreviation of the other's words.
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


def script(text: Text, language: Language) -> str | None:
    """Find a translation with too little of the language's scripts, or too much of another one.

    An answer that is a name, a code or a title may stay unchanged.
    """
    if text.field == "gold_answer" and _bare(text.source) == _bare(text.translation):
        return None
    share = script_share(text.translation, language.scripts)
    if share < language.min_share:
        return f"{share:.0%} of it is {language.title}, expected at least {language.min_share:.0%}"
    body = without_parentheses(text.translation)
    total = letters(body)
    if not total or total < language.thresholds.script_letters:
        return None
    for name, (least, greatest) in language.script_bounds.items():
        found = sum(name in script_of(c) for c in body if c.isalpha()) / total
        if not least <= found <= greatest:
            return f"{found:.0%} of its letters are {name}, expected {least:.0%}–{greatest:.0%}"
    return None


def _bare(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def variant(text: Text, language: Language) -> str | None:
    """Find a foreign character, or more foreign words than are tolerated; see `Variant`.

    Text in parentheses is an original, and may be in any variant.
    """
    body = without_parentheses(text.translation)
    if characters := foreign_characters(body, language.variant):
        return f"not {language.title}: {''.join(dict.fromkeys(characters))!r:.40}"
    terms = foreign_terms(body, language.variant)
    if len(terms) > len(body) // language.thresholds.variant_term_length:
        return f"not {language.title}: {', '.join(terms[:3])}"
    return None


def foreign_terms(text: str, variant: Variant) -> list[str]:
    """Return the words of ``text`` that belong to another variant, with the own ones if known.

    A country before a dot is a given name: 特立尼達·佩雷斯 is a person.
    """
    terms = [
        f"{term} (here {own})"
        for term, own in variant.terms.items()
        if term in text and re.search(rf"{re.escape(term)}(?![·・‧])", text)
    ]
    found = (re.search(pattern, text) for pattern in variant.strangers)
    return terms + [match.group() for match in found if match]


def foreign_characters(text: str, variant: Variant) -> list[str]:
    """Return the characters of ``text`` that belong to another variant, in order."""
    for compound in variant.compounds:
        text = text.replace(compound, "")
    return [
        character
        for character in text
        if character in variant.forbidden
        or (
            "\u4e00" <= character <= "\u9fff"
            and character not in variant.allowed
            and _foreign(character, variant.own_charset, variant.foreign_charsets)
        )
    ]


@lru_cache(maxsize=65536)
def _foreign(character: str, own: str, foreign: tuple[str, ...]) -> bool:
    if not own or character.encode(own, "ignore"):
        return False
    return any(character.encode(charset, "ignore") for charset in foreign)
