"""Stemmed words, for languages with spaces."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from bears.language.folding import folded
from bears.retrieval.sparse.analysis.standard import tokens
from bears.retrieval.sparse.analysis.unspaced import words

LETTERS = 5
"""Letters that `prefixes` keeps of a word."""

_UNDOUBLED = re.compile(r"((?:[aeiou]|.y).*([^aeioubdfglmnprstyz]))\2(?:ed|ing)s?$")
"""A double consonant that Snowball's ``porter`` keeps, in a stem with a vowel."""
_BLI_OR_LOGI = re.compile("(?:bl|log)[iy](?:s|es|ed|ing)?$")
"""Words whose stem may end like this because Snowball's ``porter`` lacks two rules."""
_MEASURED = re.compile("(?:[aeiou][^aeiou]|[^aeiou]y[^aeiou]).*(?:bli|logi)$")
"""Either after a vowel and a consonant: Porter's measure of the part before it is not 0."""


def prefixes(text: str) -> list[str]:
    """Cut words after five letters; words with a digit stay whole."""
    return [word[:LETTERS] if word.isalpha() else word for word in words(text)]


def snowball(algorithm: str) -> Callable[[str], list[str]]:
    """Return an analyzer that lowers words and stems them by a Snowball algorithm.

    Lucene's analyzers for these languages also leave out stop words, and some use a lighter
    stemmer.

    Args:
        algorithm: its name, such as ``german``.
    """

    def stemmed(text: str) -> list[str]:
        words = [token.lower() for token in tokens(folded(text))]
        stems: list[str] = _stemmer(algorithm).stemWords(words)
        return [stem for stem in stems if stem]

    return stemmed


def porter(word: str) -> str:
    """Return the stem of a word in lower case, by Porter's stemmer in C, which Lucene also has.

    Snowball's ``porter`` follows the article (Porter, 1980) instead. The published program leaves
    words of one and two letters alone, replaces ``bli`` rather than ``abli``, knows ``logi``, and
    undoubles every consonant before ``ed`` and ``ing`` but l, s and z.
    """
    if len(word) <= 2:
        return word
    stem: str = _stemmer("porter").stemWord(_UNDOUBLED.sub(r"\1", word))
    if _BLI_OR_LOGI.search(word) and _MEASURED.search(stem):
        return stem[:-1] if stem.endswith("logi") else porter(stem[:-1] + "e")
    return stem


@cache
def _stemmer(algorithm: str) -> Any:
    import Stemmer

    return Stemmer.Stemmer(algorithm)
