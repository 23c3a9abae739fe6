"""Whether an answer still stands in its documents, and what else it may be called."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from bears.language.profile import Language
from bears.language.text import parenthesised, without_parentheses

_TITLE_MARKS = '《》〈〉「」『』“”"‘’„«»‹›'


def normalise(text: str, language: Language) -> str:
    """``text`` as answers are compared.

    Compatibility forms, case and the language's own pairs (臺/台) fold; what stands in
    parentheses goes, unless nothing else is there; punctuation goes. White space goes too where
    the language does not part words by it, else one space stays between words.
    """
    return _folded(without_parentheses(text).strip() or text, language)


def preserved(
    answer: str, documents: Iterable[str], language: Language
) -> Literal["exact", "normalised"] | None:
    """How ``answer`` stands in one of ``documents``, if it does.

    Exact: to the letter. Normalised: when both are normalised, whether the parentheses of the
    document are dropped or opened (the answer may be what stands in them). Where spaces part
    words, it begins and ends as words do.
    """
    texts = list(documents)
    if answer and any(_stands(answer, text, language) for text in texts):
        return "exact"
    wanted = normalise(answer, language)
    forms = (
        form for text in texts for form in (normalise(text, language), _folded(text, language))
    )
    found = wanted and any(_stands(wanted, form, language) for form in forms)
    return "normalised" if found else None


def kept(
    answer: str, original: str, documents: Sequence[str], language: Language
) -> Literal["exact", "normalised", "alias", "lost"]:
    """How a translated answer stands in ``documents``, ``original`` being its source.

    As `preserved` says, or else in another form: one of its `aliases`, the original's letters,
    its parts between commas, all of these without particles (匈牙利的國王 is 匈牙利國王).
    """
    forms = [answer, original, *aliases(answer, language)] if answer.strip() else []
    found = preserved(answer, documents, language)
    alias = not found and any(
        _in_parts(form, text, language) for form in forms for text in documents
    )
    return found or ("alias" if alias else "lost")


def _in_parts(answer: str, document: str, language: Language) -> bool:
    # Parts of one character, or of two that had a particle, stand anywhere.
    less = str.maketrans("", "", language.particles)
    for part in re.split("[,，、]", answer):
        bare = part.translate(less)
        long = len(normalise(bare, language)) > (1 if bare == part else 2)
        if not long or not preserved(bare, [document.translate(less)], language):
            return False
    return True


def aliases(answer: str, language: Language) -> list[str]:
    """Other accepted forms of ``answer``, itself excluded, the likeliest first.

    The text without its parentheses, what stands in them, both without title marks, and each
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
    """Each term of ``glossary``, and whether a bundle (source, translation) keeps to it.

    A term stands in a source where it does as whole words, with its capitals if it has any. A
    rendering is looked for as `preserved` looks for an answer. Terms that no source holds are
    left out.
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
