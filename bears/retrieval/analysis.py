"""From text to the terms that BM25 counts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

# Han, kana and Hangul are written without spaces between words, or with suffixes glued on.
_UNSPACED = (
    "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_RUN = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")


def normalise(text: str) -> str:
    """NFKC and lower case, without accents, with 臺 read as 台, its everyday form."""
    folded = unicodedata.normalize("NFKC", text).lower().replace("臺", "台")
    return _ACCENTED.sub(_bare, folded)


def _bare(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFD", match[0])[0]


def cjk_bigrams(text: str) -> list[str]:
    """Characters and overlapping pairs of them for unspaced scripts, whole words for others."""
    return list(_cjk_bigrams(normalise(text)))


def words(text: str) -> list[str]:
    """Runs of letters and digits, unspaced scripts as one run."""
    return _RUN.findall(normalise(text))


def segmented(text: str) -> list[str]:
    """jieba's words for Chinese (as rjieba gives them), whole words for what has spaces."""
    import rjieba

    # rjieba alone would split accented Latin letters from their words.
    return [
        term
        for run in words(text)
        for term in (rjieba.cut(run) if re.match(f"[{_UNSPACED}]", run) else (run,))
    ]


def _cjk_bigrams(text: str) -> Iterator[str]:
    for match in _RUN.finditer(text):
        run = match[0]
        if re.match(rf"[{_UNSPACED}]", run):
            yield from run
            yield from (run[i : i + 2] for i in range(len(run) - 1))
        else:
            yield run


ANALYZERS: dict[str, Callable[[str], list[str]]] = {
    "cjk-bigrams": cjk_bigrams,
    "words": words,
    "jieba": segmented,
}
