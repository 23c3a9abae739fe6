"""From text to the terms that BM25 counts."""

from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator

from bears.retrieval.sparse.analysis.stems import english, lucene, prefixes, snowball
from bears.retrieval.sparse.analysis.unspaced import cjk_bigrams, segmented, words

Analyzer = Callable[[str], list[str]]
"""Returns the terms of a text, in order; a term is never empty and holds no white space.

White space separates terms, and the text on one side of it does not change the terms of the
other side, so that a word is analyzed once for a whole corpus.
"""

_SNOWBALL = (
    "danish dutch finnish french german hungarian italian norwegian portuguese romanian russian "
    "spanish swedish turkish"
)

ANALYZERS: dict[str, Analyzer] = {
    "cjk-bigrams": cjk_bigrams,
    "words": words,
    "jieba": segmented,
    "english": english,
    "lucene": lucene,
    "prefixes": prefixes,
    **{algorithm: snowball(algorithm) for algorithm in _SNOWBALL.split()},
}


def _known(name: str) -> str:
    if name and name not in ANALYZERS:
        raise ValueError(f"expected one of {', '.join(ANALYZERS)}")
    return name


AnalyzerName = Annotated[str, AfterValidator(_known)]
"""One of `ANALYZERS`, or empty."""
