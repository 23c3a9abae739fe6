"""The translation went round in circles, or stopped before its end."""

import re
from collections import Counter
from itertools import pairwise

from bears.language.profile import Language
from bears.language.sentences import sentence_ends
from bears.language.text import Text

_SENTENCE = 8
"""Shorter sentences may be said twice."""
_LOOP = re.compile(r"([^\W\d][^\d]{1,19}?)\1{3,}")
_TAIL = 40
"""Characters in which an end shows; a search of all takes hours in a long run of points."""
_FINISHED = re.compile(r"[.!?…。！？]\W*\Z")
_MIDDLE = re.compile(r"[\w,，、；;－-]\s*\Z")


def repeated(text: Text, language: Language) -> str | None:  # noqa: ARG001
    """A sentence stands there twice, or a piece four times in a row, as in no source."""
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
    """A document whose source ends as sentences do ends in the middle of one."""
    if text.field != "content" or not _finished(text.source) or _finished(text.translation):
        return None
    end = text.translation.rstrip()[-_TAIL:]
    return f"stops in the middle: {end!r}" if _MIDDLE.search(end) else None


def _finished(text: str) -> bool:
    return _FINISHED.search(text.rstrip()[-_TAIL:]) is not None


def sentence_for_phrase(text: Text, language: Language) -> str | None:  # noqa: ARG001
    """An answer of few words came back as a sentence."""
    few = len(text.source.split()) <= 5
    if text.field != "gold_answer" or not few or _finished(text.source):
        return None
    if text.translation.rstrip().endswith(("。", "！", "？")):
        return f"a phrase became a sentence: {text.translation!r:.60}"
    return None
