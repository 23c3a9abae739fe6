"""Find answers in documents, and list the other forms that an answer may have."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from bears.language.profile import Language
from bears.language.text import parenthesised, without_parentheses

_TITLE_MARKS = '《》〈〉「」『』“”"‘’„«»‹›'


def normalize(text: str, language: Language) -> str:
    """Return a text in the form in which answers are compared.

    Compatibility forms, case and the language's own pairs (臺/台) are folded. Text in parentheses
    is removed, unless there is no other text, and so is punctuation. White space is removed if the
    language does not separate words by it; otherwise one space stays between words.
    """
    return _folded(without_parentheses(text).strip() or text, language)


def preserved(
    answer: str, documents: Iterable[str], language: Language
) -> Literal["exact", "normalised"] | None:
    """Return how one of ``documents`` contains ``answer``; None if none of them does.

    "exact": to the letter. "normalised": after both are normalized, with the parentheses of the
    document either removed or opened, because the answer may be inside them. In a language with
    spaces between words, the answer must begin and end where words do.
    """
    texts = list(documents)
    if answer and any(_stands(answer, text, language) for text in texts):
        return "exact"
    wanted = normalize(answer, language)
    forms = (
        form for text in texts for form in (normalize(text, language), _folded(text, language))
    )
    found = wanted and any(_stands(wanted, form, language) for form in forms)
    return "normalised" if found else None


def kept(
    answer: str, original: str, documents: Sequence[str], language: Language
) -> Literal["exact", "normalised", "alias", "lost"]:
    """Return how ``documents`` contain a translated answer.

    Besides the ways of `preserved`, there is "alias": one of the answer's `aliases`, the letters of
    ``original``, which is the answer's source, or its parts between commas, all of these without
    particles (匈牙利的國王 is 匈牙利國王).
    """
    forms = [answer, original, *aliases(answer, language)] if answer.strip() else []
    found = preserved(answer, documents, language)
    alias = not found and any(
        _in_parts(form, text, language) for form in forms for text in documents
    )
    return found or ("alias" if alias else "lost")


def _in_parts(answer: str, document: str, language: Language) -> bool:
    # Parts of one character, or of two before a particle was removed, occur anywhere.
    less = str.maketrans("", "", language.particles)
    for part in re.split("[,，、]", answer):
        bare = part.translate(less)
        long = len(normalize(bare, language)) > (1 if bare == part else 2)
        if not long or not preserved(bare, [document.translate(less)], language):
            return False
    return True


def aliases(answer: str, language: Language) -> list[str]:
    """Return other accepted forms of ``answer``, the likeliest first.

    These are the text without its parentheses, the text in them, both without title marks, and each
    with the language's folded characters exchanged (臺/台).
    """
    bare = " ".join(without_parentheses(answer).split())
    forms = [bare, *parenthesised(answer)]
    forms += [form.translate(str.maketrans("", "", _TITLE_MARKS)) for form in (answer, *forms)]
    if answer.strip() in (language.yes, language.no):
        forms += language.yes_words if answer.strip() == language.yes else language.no_words
    for ours, theirs in language.fold.items():
        forms += [form.replace(ours, theirs) for form in (answer, *forms)]
        forms += [form.replace(theirs, ours) for form in (answer, *forms)]
    unique = dict.fromkeys(form.strip() for form in forms)
    return [form for form in unique if form and form != answer]


def term_renderings(
    glossary: Iterable[tuple[str, str]], texts: Sequence[tuple[str, str]], language: Language
) -> Iterator[tuple[str, bool]]:
    """Yield each term of ``glossary``, and whether all texts (source, translation) render it so.

    A source has a term if it has it as whole words, with its capitals if there are any. Renderings
    are searched for like answers, see `preserved`. Terms that are in no source are skipped.
    """
    for term, rendering in glossary:
        held = [translation for source, translation in texts if _holds(source, term)]
        if held:
            yield term, all(preserved(rendering, [text], language) for text in held)


def _holds(source: str, term: str) -> bool:
    if any(character.lower() != character.upper() for character in term):
        return re.search(rf"(?<!\w){re.escape(term)}(?!\w)", source) is not None
    return term in source


def _stands(answer: str, text: str, language: Language) -> bool:
    if not language.spaced:
        return answer in text
    return re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text) is not None


def _folded(text: str, language: Language) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    for character, other in language.fold.items():
        plain = plain.replace(character, other)
    if language.spaced:
        return " ".join("".join(c if _kept(c) else " " for c in plain).split())
    return "".join(c for c in plain if _kept(c))


def _kept(character: str) -> bool:
    # Many scripts write vowels as marks.
    return character.isalnum() or unicodedata.category(character).startswith("M")
