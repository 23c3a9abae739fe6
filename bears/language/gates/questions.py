"""Find questions that became statements, or were answered instead of translated."""

import re

from bears.language import english
from bears.language.answers import normalize
from bears.language.profile import Kind, Language
from bears.language.tags import primary
from bears.language.text import (
    QUOTES,
    Text,
    has_content,
    unspaced,
    without_marked,
    without_parentheses,
    words,
)
from bears.language.yes_no import means, yes_or_no

_LEAST = 3
"""Shorter answers are in a question by chance."""


def question_mood(text: Text, language: Language) -> str | None:
    """Find a question whose translation has neither a question mark nor a question word.

    Titles and parentheses are ignored: 《你比誰都好》.
    """
    if text.field != "question" or not _asks(text.source, text.source_language):
        return None
    if language.mood.asks(_unmarked(text.translation, language)):
        return None
    return f"a question became a statement: {text.translation!r:.60}"


def question_kind(text: Text, language: Language) -> str | None:
    """Find a translation that asks for something else: a year instead of a person."""
    if text.field != "question" or primary(text.source_language) != "en":
        return None
    asked = english.kinds_of(without_marked(text.source, QUOTES))
    there = language.mood.kinds_of(_unmarked(text.translation, language))
    if not asked or not there or asked & there or "choice" in asked | there:
        return None
    if "yes_no" in asked:
        return f"a yes/no question asks for {_listed(there)}"
    # They may be the same: "which" may be all but a number.
    both = asked | there
    may_be = "other" in both or ("which" in both and "amount" not in both)
    if there == {"yes_no"} or not may_be:
        return f"a question for {_listed(asked)} asks for {_listed(there)}"
    return None


def _asks(source: str, source_language: str) -> bool:
    if primary(source_language) == "en":
        return english.asks(source)
    return source.rstrip().endswith(("?", "？", "か。"))


def answered(text: Text, language: Language) -> str | None:
    """Find the translation of a question that answers it.

    It begins like an answer or is one, or a statement follows the question that the source lacks,
    or it contains a gold answer of three characters or more that the source does not have.
    """
    if text.field != "question":
        return None
    translation = text.translation.strip()
    for pattern in language.mood.answers:
        if re.match(pattern, translation, re.IGNORECASE):
            return f"begins as an answer: {translation!r:.60}"
    if means(translation, language.yes_words, language.no_words):
        return f"is an answer: {translation!r}"
    rest = _after_question(translation, language)
    if rest and not _after_question(text.source, language):
        return f"a statement follows the question: {rest!r:.60}"
    if given := _given(text, language):
        return f"holds the answer: {given!r:.60}"
    return None


def _after_question(text: str, language: Language) -> str:
    """Return the statement after the last question mark; empty if there is no such statement."""
    marks = re.escape(language.mood.marks + "?？")
    _, mark, rest = re.sub(rf"[{marks}]", "?", text).rpartition("?")
    # A mark in a title or a quotation does not end the question: 《誰是接班人？》的導演是…
    closes = re.match(r"\s*[》」』”\"’)）]", rest)
    if not mark or closes or not has_content(without_parentheses(rest)):
        return ""
    return "" if language.mood.asks(rest) else rest.strip()


def _given(text: Text, language: Language) -> str | None:
    source = normalize(text.source, language)
    translation = normalize(text.translation, language)
    answers = [
        answer
        for answer in text.answers
        if not yes_or_no(answer, text.source_language)
        and not means(answer, language.yes_words, language.no_words)
    ]
    forms = {answer: normalize(answer, language) for answer in answers}
    if any(form and form in source for form in forms.values()) or _demonym(text):
        return None
    found = (a for a, form in forms.items() if len(form) >= _LEAST and form in translation)
    return next(found, None)


def answer_hint(text: Text, language: Language) -> str | None:
    """Find a piece of the translated answer in the question, if the sources share no word.

    For example 匈牙利的哪位國王 for a grandfather who is Béla III of Hungary.
    """
    if text.field != "question" or len(text.answers) < 2 or language.spaced:
        return None
    if primary(text.source_language) != "en":
        return None  # Without spaces, the beginnings of words are unknown.
    before, after = text.answers
    if before == after or _beginnings(before) & _beginnings(text.source):
        return None
    runs = (after[i : i + _LEAST] for i in range(len(after) - _LEAST + 1))
    found = (run for run in runs if unspaced(run) == _LEAST and run in text.translation)
    hint = next(found, None)
    return f"holds a part of the answer: {hint!r}" if hint else None


def _beginnings(text: str) -> set[str]:
    return {word[:_LEAST].casefold() for word in words(text) if len(word) >= _LEAST}


def _demonym(text: Text) -> bool:
    """Return whether the source has the answer as an adjective: Canadian for Canada."""
    answer = text.answers[0] if text.answers else ""
    return len(answer.split()) == 1 and bool(_beginnings(answer) & _beginnings(text.source))


def _listed(kinds: set[Kind]) -> str:
    return " or ".join(sorted(kinds)).replace("_", "/").replace("other", "something")


def _unmarked(text: str, language: Language) -> str:
    return without_marked(without_parentheses(text), language.titles)
