"""Lucene's EnglishAnalyzer, which Anserini uses for its BM25 baselines of BEIR."""

from bears.language.folding import folded
from bears.retrieval.sparse.analysis.standard import tokens
from bears.retrieval.sparse.analysis.stems import porter

_STOP_WORDS = """
a an and are as at be but by for if in into is it no not of on or such that the their then there
these they this to was will with
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Lucene's EnglishAnalyzer.ENGLISH_STOP_WORDS_SET."""


def english(text: str) -> list[str]:
    """Return what `lucene` does of a text in one way of writing it."""
    return lucene(folded(text))


def lucene(text: str) -> list[str]:
    """Return words without ``'s``, in lower case, without stop words, stemmed by Porter."""
    lowered = (_without_possessive(token).lower() for token in tokens(text))
    return [porter(word) for word in lowered if word not in STOP_WORDS]


def _without_possessive(token: str) -> str:
    possessive = len(token) >= 2 and token[-1] in "sS" and token[-2] in "'\u2019\uff07"
    return token[:-2] if possessive else token
