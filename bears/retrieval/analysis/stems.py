"""Words reduced to what their forms share, for languages with spaces."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from bears.retrieval.analysis.standard import tokens
from bears.retrieval.analysis.unspaced import words

LETTERS = 5
"""What `prefixes` keeps of a word."""


def prefixes(text: str) -> list[str]:
    """Words cut after five letters; what holds a digit stays whole."""
    return [word[:LETTERS] if word.isalpha() else word for word in words(text)]


def snowball(algorithm: str) -> Callable[[str], list[str]]:
    """Words in lower case, stemmed by a Snowball algorithm.

    Lucene's analyzers for these languages also leave out stop words, and some have a lighter
    stemmer of their own.

    Args:
        algorithm: its name, such as ``german``.
    """

    def stemmed(text: str) -> list[str]:
        stems: list[str] = _stemmer(algorithm).stemWords([t.lower() for t in tokens(text)])
        return [stem for stem in stems if stem]

    return stemmed


@cache
def _stemmer(algorithm: str) -> Any:
    import Stemmer

    return Stemmer.Stemmer(algorithm)
