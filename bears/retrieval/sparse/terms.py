"""From text to the terms that BM25 counts: whole words, their stems, and parts of unspaced scripts.

The tokenizer of words follows the rules of Unicode's annex 29 (word boundaries), as Lucene's
StandardTokenizer does. `lucene` is Lucene's EnglishAnalyzer, which Anserini uses for its BM25
baselines of BEIR."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, count, groupby
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator

from bears.files.intake.yaml_text import table_of
from bears.language.scripts import HAN, HANGUL, KANA, folded

# Han, kana and Hangul are written without spaces between words, or with suffixes attached.
_UNSPACED = HAN + KANA + HANGUL
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_RUN = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_FIRST = re.compile(f"[{_UNSPACED}]")
LONGEST = 255
"""Characters of a token; a longer word becomes several tokens, as in Lucene."""

_TABLE = table_of(__file__)
Analyzer = Callable[[str], list[str]]
"""Returns the terms of a text, in order; a term is never empty and holds no white space.

White space separates terms, and the text on one side of it does not change the terms of the
other side, so that a word is analyzed once for a whole corpus.
"""
Numbers = NDArray[np.int64]
REMEMBERED, LONGEST_WORD = 16 << 20, 64
"""Characters of words whose terms are remembered, and of the longest such word: a longer one is a
sentence of a script without spaces, which does not come again."""


def normalize(text: str) -> str:
    """Return a folded text in lower case without accents, with 台, the everyday form, for 臺."""
    if text.isascii():
        return text.lower()
    return _ACCENTED.sub(_bare, _one_way(text)).lower().replace("臺", "台")


def _one_way(text: str) -> str:
    """Return a folded text in which every apostrophe is ASCII's. Hyphens separate words anyway."""
    return text if text.isascii() else folded(text).translate(_apostrophes())


@cache
def _apostrophes() -> dict[int, str]:
    """Return what Unicode calls an apostrophe or a single quotation mark."""
    names = {code: unicodedata.name(chr(code), "") for code in range(0x80, 0x3000)}
    marks = ("APOSTROPHE", "QUOTATION MARK")
    return {
        code: "'"
        for code, name in names.items()
        if any(mark in name for mark in marks) and ("SINGLE" in name or marks[0] in name)
    }


def _bare(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFD", match[0])[0]


def words(text: str) -> list[str]:
    """Return runs of letters and digits, unspaced scripts as one run."""
    if text.isascii() and text.isalnum():
        return [text.lower()]
    return _RUN.findall(normalize(text))


def cjk_bigrams(text: str) -> list[str]:
    """Return characters and overlapping pairs for unspaced scripts, whole words for others."""
    terms = []
    for run in words(text):
        pairs = (run[i : i + 2] for i in range(len(run) - 1))
        terms += [*run, *pairs] if _FIRST.match(run) else [run]
    return terms


def segmented(text: str) -> list[str]:
    """Return jieba's words (from rjieba) for Chinese, whole words for scripts with spaces."""
    import rjieba

    # rjieba alone would split accented Latin letters from their words.
    return [
        term for run in words(text) for term in (rjieba.cut(run) if _FIRST.match(run) else (run,))
    ]


def tokens(text: str) -> list[str]:
    """Return the words of a text; Han characters and hiragana one by one, katakana in runs.

    Unlike in Lucene, emoji are left out, and U+202F, a space, does not join words.
    """
    if text.isascii() and text.isalpha() and len(text) <= LONGEST:
        return [text]
    return _pattern().findall(text)


@cache
def _pattern() -> re.Pattern[str]:
    classes = _classes()
    letters, digits, marks = classes["letter"], classes["digit"], classes["mark"]
    joiners, single, katakana = classes["joiner"], _TABLE["single"], _TABLE["katakana"]
    between = _TABLE["between"]
    more = f"{{0,{LONGEST - 1}}}"
    return re.compile(
        f"[{joiners}]*[{letters}{digits}](?:[{letters}{digits}{joiners}{marks}]"
        f"|(?<=[{letters}{marks}])[{between['letters']}{between['either']}](?=[{letters}])"
        f"|(?<=[{digits}{marks}])[{between['digits']}{between['either']}](?=[{digits}])){more}"
        f"|[{katakana}][{katakana}{marks}]{more}"
        f"|[{single}][{marks}]*"
    )


def _classes() -> dict[str, str]:
    """Return the parts of classes, made from Python's own Unicode tables."""
    by_kind: dict[str, list[int]] = {"letter": [], "digit": [], "mark": [], "joiner": []}
    other = re.compile(f"[{_TABLE['single']}{_TABLE['katakana']}\u200b]")
    for code in range(0x20000):  # only Han characters follow
        kind = _kind(chr(code))
        if kind and not other.match(chr(code)):
            by_kind[kind].append(code)
    return {kind: _ranges(codes) for kind, codes in by_kind.items()}


def _kind(character: str) -> str:
    category = unicodedata.category(character)
    if category[0] == "L" or category == "Nl" or "\u24b6" <= character <= "\u24e9":
        return "letter"
    if category[0] == "M" or category == "Cf":
        return "mark"
    if category == "Pc":
        return "joiner"
    return "digit" if category == "Nd" else ""


def _ranges(codes: Iterable[int]) -> str:
    """Return ascending codes as ``a-z`` parts of a class."""
    runs = (list(run) for _, run in groupby(enumerate(codes), key=lambda pair: pair[1] - pair[0]))
    return "".join(f"{re.escape(chr(run[0][1]))}-{re.escape(chr(run[-1][1]))}" for run in runs)


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
        # What is elided before a word, as in l'eau, is a word of its own.
        words = [part for token in tokens(_one_way(text)) for part in token.lower().split("'")]
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


_POSSESSIVE = re.compile("['\u2019\uff07][sS]\\Z")
STOP_WORDS = frozenset(_TABLE["stop_words"].split())
"""Lucene's EnglishAnalyzer.ENGLISH_STOP_WORDS_SET."""


def english(text: str) -> list[str]:
    """Return what `lucene` does of a text in one way of writing it."""
    return lucene(_one_way(text))


def lucene(text: str) -> list[str]:
    """Return words without ``'s``, in lower case, without stop words, stemmed by Porter."""
    lowered = (_POSSESSIVE.sub("", token).lower() for token in tokens(text))
    return [porter(word) for word in lowered if word not in STOP_WORDS]


ANALYZERS: dict[str, Analyzer] = {
    "cjk-bigrams": cjk_bigrams,
    "words": words,
    "jieba": segmented,
    "english": english,
    "lucene": lucene,
    "prefixes": prefixes,
    **{algorithm: snowball(algorithm) for algorithm in _TABLE["snowball"]},
}


def _known(name: str) -> str:
    if name and name not in ANALYZERS:
        raise ValueError(f"expected one of {', '.join(ANALYZERS)}")
    return name


AnalyzerName = Annotated[str, AfterValidator(_known)]
"""One of `ANALYZERS`, or empty."""


class Vocabulary(dict[str, list[int]]):
    """Words to the numbers of their terms; a known word costs one lookup and no call.

    A word is analyzed once, as long as it is remembered.
    """

    def __init__(self, analyze: Analyzer) -> None:
        self._analyze, self._characters = analyze, 0
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)

    @property
    def terms(self) -> list[str]:
        """Return every term so far, by number."""
        return list(self._numbers)

    def __missing__(self, word: str) -> list[int]:
        if self._characters > REMEMBERED:
            self.clear()
            self._characters = 0
        numbers = [self._numbers[term] for term in self._analyze(word)]
        if len(word) <= LONGEST_WORD:
            self._characters += len(word)
            self[word] = numbers
        return numbers

    def count(self, texts: Sequence[str]) -> "Counts":
        """Count the terms of texts."""
        numbered = [
            list(chain.from_iterable(map(self.__getitem__, text.split()))) for text in texts
        ]
        lengths = np.fromiter(map(len, numbered), np.int64, len(texts))
        terms = np.fromiter(chain.from_iterable(numbered), np.int64, int(lengths.sum()))
        # Term and text in one number: sorting those is several times faster than by two keys.
        pairs = terms << 32 | np.arange(len(texts)).repeat(lengths)
        pairs.sort()
        firsts = np.flatnonzero(changes(pairs))
        counts = np.diff(firsts, append=len(pairs))
        pairs = pairs[firsts]
        return Counts(pairs >> 32, pairs & 0xFFFFFFFF, counts, lengths)


@dataclass(frozen=True, slots=True)
class Counts:
    """The postings of some texts, by term and within a term by text.

    Args:
        terms: of each posting, shape (postings,), ascending.
        texts: position of the text that holds the term, ascending within a term.
        counts: how often the text holds the term, at least 1.
        lengths: terms of each text, shape (texts,).
    """

    terms: Numbers
    texts: Numbers
    counts: Numbers
    lengths: Numbers


def changes(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a number differs from the one before it; the first one always does."""
    changed = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=changed[1:])
    return changed
