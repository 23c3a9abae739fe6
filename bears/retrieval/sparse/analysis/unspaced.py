"""Terms of Chinese, Japanese and Korean, and whole words of scripts with spaces."""

import re
import unicodedata
from collections.abc import Iterator

from bears.language.folding import folded
from bears.language.scripts import HAN, HANGUL, KANA

# Han, kana and Hangul are written without spaces between words, or with suffixes attached.
_UNSPACED = HAN + KANA + HANGUL
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_RUN = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_FIRST = re.compile(f"[{_UNSPACED}]")


def normalize(text: str) -> str:
    """Return a folded text in lower case without accents, with 台, the everyday form, for 臺."""
    if text.isascii():
        return text.lower()
    return _ACCENTED.sub(_bare, folded(text)).lower().replace("臺", "台")


def _bare(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFD", match[0])[0]


def words(text: str) -> list[str]:
    """Return runs of letters and digits, unspaced scripts as one run."""
    if text.isascii() and text.isalnum():
        return [text.lower()]
    return _RUN.findall(normalize(text))


def cjk_bigrams(text: str) -> list[str]:
    """Return characters and overlapping pairs for unspaced scripts, whole words for others."""
    return [term for run in words(text) for term in _characters_and_pairs(run)]


def _characters_and_pairs(run: str) -> Iterator[str]:
    if _FIRST.match(run):
        yield from run
        yield from (run[i : i + 2] for i in range(len(run) - 1))
    else:
        yield run


def segmented(text: str) -> list[str]:
    """Return jieba's words (from rjieba) for Chinese, whole words for scripts with spaces."""
    import rjieba

    # rjieba alone would split accented Latin letters from their words.
    return [
        term for run in words(text) for term in (rjieba.cut(run) if _FIRST.match(run) else (run,))
    ]
