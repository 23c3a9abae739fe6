"""Find mistakes without a comparison of words: emptiness, length, ending, chatter, yes and no."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from bears.files.intake.yaml_text import table_of
from bears.files.visible import blank
from bears.language.profile import Language, family
from bears.language.sentences import sentence_ends
from bears.language.text import Text, has_content, without_parentheses
from bears.language.yes_no import means, yes_or_no


def empty(text: Text, language: Language) -> str | None:  # noqa: ARG001
    """Find a translation without visible text, although the source has some."""
    if not blank(text.source) and blank(text.translation):
        return "the translation is empty"
    return None


def punctuation_only(text: Text, language: Language) -> str | None:  # noqa: ARG001
    """Find a translation without letters and digits, although the source has some."""
    if blank(text.translation):
        return None
    if has_content(text.source) and not has_content(text.translation):
        return f"nothing but punctuation: {text.translation!r:.60}"
    return None


_SLACK = 20
"""By how many characters the length may differ before its ratio counts."""


def length_ratio(text: Text, language: Language) -> str | None:
    """Find a length that is out of bounds by more than the slack.

    The bounds depend on the source's family. White space is not counted. Text in parentheses
    (originals of names) does not make a translation too long, and does not save it from being too
    short.
    """
    least, greatest = language.length[family(text.source_language)]
    source = _length(text.source)
    body = _length(without_parentheses(text.translation))
    whole = _length(text.translation)
    if whole + _SLACK < least * source:
        return f"{whole} characters for {source}, expected at least {least * source:.0f}"
    if body - _SLACK > greatest * source:
        return f"{body} characters for {source}, expected at most {greatest * source:.0f}"
    return None


def _length(text: str) -> int:
    return sum(map(len, text.split()))


_SENTENCE = 8
"""Shorter sentences may be repeated."""
_LOOP = re.compile(r"([^\W\d][^\d]{1,19}?)\1{3,}")
_TAIL = 40
"""How many characters at the end are searched; a long run of points would take hours."""
_FINISHED = re.compile(r"[.!?…。！？]\W*\Z")
_MIDDLE = re.compile(r"[\w,，、；;－-]\s*\Z")


def repeated(text: Text, language: Language) -> str | None:  # noqa: ARG001
    """Find a repeated sentence, or a piece four times in a row, that the source does not have."""
    if _said_twice(text.source) or _LOOP.search(text.source):
        return None
    again = _said_twice(text.translation)
    if not again and (loop := _LOOP.search(text.translation)):
        again = loop[1]
    return f"says again and again: {again!r:.60}" if again else None


def _said_twice(text: str) -> str:
    ends = [0, *sentence_ends(text), len(text)]
    sentences = (text[a:b].strip() for a, b in pairwise(ends))
    counted = Counter(sentence for sentence in sentences if len(sentence) >= _SENTENCE)
    return next((sentence for sentence, times in counted.items() if times > 1), "")


def unfinished(text: Text, language: Language) -> str | None:  # noqa: ARG001
    """Find a document that ends in the middle of a sentence, although its source does not."""
    if text.field != "content" or not _finished(text.source) or _finished(text.translation):
        return None
    end = text.translation.rstrip()[-_TAIL:]
    return f"stops in the middle: {end!r}" if _MIDDLE.search(end) else None


def _finished(text: str) -> bool:
    return _FINISHED.search(text.rstrip()[-_TAIL:]) is not None


def sentence_for_phrase(text: Text, language: Language) -> str | None:  # noqa: ARG001
    """Find an answer of few words that became a sentence."""
    few = len(text.source.split()) <= 5
    if text.field != "gold_answer" or not few or _finished(text.source):
        return None
    if text.translation.rstrip().endswith(("。", "！", "？")):
        return f"a phrase became a sentence: {text.translation!r:.60}"
    return None


_ENGLISH: Sequence[str] = table_of(__file__)
_QUOTES = ('""', "“”", "''", "‘’", "``")


def chatter(text: Text, language: Language) -> str | None:
    """Find a phrase of models that the source lacks, or quotation marks around the whole text."""
    for pattern in (*_ENGLISH, *language.chatter):
        found = re.search(pattern, text.translation, re.IGNORECASE)
        if found and not re.search(pattern, text.source, re.IGNORECASE):
            return f"the model speaks: {found.group().strip()!r:.60}"
    pairs = (*_QUOTES, *language.quotes)
    marked = _wrapped(text.source, (*pairs, "《》", "『』"))
    # A title that was kept may have marks, even if the source has none.
    kept = text.source.casefold().strip() in text.translation.casefold()
    if _wrapped(text.translation, pairs) and not marked and not kept:
        return f"quotation marks are around it: {text.translation!r:.60}"
    return None


def _wrapped(text: str, pairs: tuple[str, ...]) -> bool:
    bare = text.strip()
    inner = set(bare[1:-1])
    return bool(inner) and any(
        bare[0] + bare[-1] == pair and inner.isdisjoint(pair) for pair in pairs
    )


def yes_no(text: Text, language: Language) -> str | None:
    """Find a yes/no answer whose translation is not the standard word."""
    meaning = None
    if text.field == "gold_answer":
        meaning = yes_or_no(text.source, text.source_language)
    expected = language.yes if meaning == "yes" else language.no
    if meaning is None or text.translation == expected:
        return None
    found = means(text.translation, language.yes_words, language.no_words)
    what = "is not the lexicon's word" if found in (None, meaning) else "means the opposite"
    return f"{text.translation!r:.40} {what}, expected {expected!r}"
