"""Describe a target language; there is one file per language in conf/language."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bears.language.tags import primary
from bears.types import ForbidsExtra

Family = Literal["alphabetic", "syllabic", "logographic"]
"""How much a character says: a sound, a syllable (Korean) or a word (Chinese, Japanese)."""

Kind = Literal["yes_no", "choice", "person", "time", "place", "amount", "manner", "which", "other"]
"""What a question asks for: yes or no, one of two, a person, …, how or why, or any of these."""


@dataclass(frozen=True)
class Prompt(ForbidsExtra):
    """Instructions about the language for a translator, in English.

    Args:
        variant: which form of the language, whose words.
        names: how proper nouns are rendered.
        numbers: habits of numbers and dates.
        quotes: which quotation and title marks.
    """

    variant: str
    names: str
    numbers: str
    quotes: str


@dataclass(frozen=True)
class Mood(ForbidsExtra):
    """What makes a sentence a question.

    Args:
        marks: characters, any of which makes a question.
        words: regular expressions, any of which makes a question without a mark.
        answers: regular expressions for the beginning of an answer, never of a question.
        kinds: regular expressions for what a question asks for, by kind; see `kinds_of`.
    """

    marks: str
    words: tuple[str, ...]
    answers: tuple[str, ...]
    kinds: Mapping[Kind, tuple[str, ...]] = field(default_factory=dict)

    def asks(self, text: str) -> bool:
        """Return whether ``text`` has a question mark or a question word."""
        return any(mark in text for mark in self.marks) or any(
            re.search(pattern, text, re.IGNORECASE) for pattern in self.words
        )

    def kinds_of(self, text: str) -> set[Kind]:
        """Return what ``text`` asks for; words that match one kind are not tried for later ones."""
        found: set[Kind] = set()
        for kind, patterns in self.kinds.items():
            shorter = re.sub("|".join(patterns), " ", text, flags=re.IGNORECASE)
            if shorter != text:
                found.add(kind)
            text = shorter
        return found


@dataclass(frozen=True)
class Standalone(ForbidsExtra):
    """Signs that a question cannot be understood by itself.

    Args:
        passage: regular expressions: it mentions the passage that it is about ("according to the
            text"). Case is ignored.
        leans: regular expressions: it refers to something that it does not name ("When was he
            born?"). Case is ignored.
    """

    passage: tuple[str, ...] = ()
    leans: tuple[str, ...] = ()


@dataclass(frozen=True)
class Numbers(ForbidsExtra):
    """How numbers and dates are written besides plain digits.

    Args:
        multipliers: what follows digits and multiplies them (萬: 10000).
        numerals: characters that write numbers without digits (三: 3, 十: 10).
        months: twelve regular expressions, January first.
        half: what adds a half to the number before it (兩個半小時: 2.5 hours).
    """

    months: tuple[str, ...]
    multipliers: Mapping[str, int] = field(default_factory=dict)
    numerals: Mapping[str, int] = field(default_factory=dict)
    half: str = ""


@dataclass(frozen=True)
class Variant(ForbidsExtra):
    """What distinguishes another regional or historical form of the language from this one.

    A character is foreign if it is an ideograph that one of ``foreign_charsets`` has and
    ``own_charset`` lacks: national character sets hold what their country writes.

    Args:
        own_charset: a codec of Python, or empty.
        foreign_charsets: codecs of Python.
        forbidden: foreign characters that ``own_charset`` has nevertheless.
        allowed: characters that are not foreign after all.
        compounds: words that are not foreign, although one of their characters is.
        terms: words of the other form, and the ones of this form.
        strangers: regular expressions for more foreign words that depend on the context.
    """

    own_charset: str = ""
    foreign_charsets: tuple[str, ...] = ()
    forbidden: str = ""
    allowed: str = ""
    compounds: tuple[str, ...] = ()
    terms: Mapping[str, str] = field(default_factory=dict)
    strangers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Thresholds(ForbidsExtra):
    """Limits of the gates.

    Args:
        source_share: greatest share of the source's words that the translation may have.
        source_words: least number of such words for that share to count.
        variant_term_length: one foreign term is tolerated per this many characters.
        script_letters: least number of letters for `Language.script_bounds` to apply.
    """

    source_share: float = 0.25
    source_words: int = 4
    variant_term_length: int = 1_000_000
    script_letters: int = 20


@dataclass(frozen=True)
class Language(ForbidsExtra):
    """A target language.

    Args:
        name: BCP 47 tag.
        title: its name in English.
        native_name: its name in the language itself.
        scripts: Unicode script names of its letters, or HAN and KANA.
        min_share: see `bears.language.scripts.script_share`.
        spaced: whether spaces separate all words, so that answers are compared by words.
        yes_words: the standard word for yes, then others with the same meaning.
        no_words: the standard word for no, then others with the same meaning.
        quotes: pairs of quotation marks, each a text of two characters.
        titles: pairs of marks around titles.
        prompt: see `Prompt`.
        mood: see `Mood`.
        numbers: see `Numbers`.
        length: least and greatest length of a translation as a multiple of the source's, by the
            source language's `Family`.
        native: passages that must pass all gates.
        chatter: regular expressions for what models add around a translation, besides the English
            ones that every language has.
        calibrated_on: native texts by others on which the false alarms of the gates were counted.
            If it is empty, verification says so.
        unanswerable: the answer if the documents have none.
        variant: see `Variant`.
        fold: characters that are equal when answers are compared.
        particles: characters without which answers are compared as a last resort.
        lexicon: important words of English questions, and their renderings, both as regular
            expressions; see `bears.language.gates.words`.
        details: the same for words that idioms may replace.
        loans: words of another script that its texts use unchanged (logo, email).
        script_bounds: least and greatest share of further scripts in longer texts.
        thresholds: see `Thresholds`.
        standalone: see `Standalone`.
    """

    name: str
    title: str
    native_name: str
    scripts: tuple[str, ...]
    min_share: float
    spaced: bool
    yes_words: tuple[str, ...]
    no_words: tuple[str, ...]
    quotes: tuple[str, ...]
    titles: tuple[str, ...]
    prompt: Prompt
    mood: Mood
    numbers: Numbers
    length: Mapping[Family, tuple[float, float]]
    native: tuple[str, ...]
    chatter: tuple[str, ...] = ()
    calibrated_on: str = ""
    unanswerable: str = "Unanswerable"
    variant: Variant = field(default_factory=Variant)
    fold: Mapping[str, str] = field(default_factory=dict)
    particles: str = ""
    lexicon: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    loans: tuple[str, ...] = ()
    script_bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    thresholds: Thresholds = field(default_factory=Thresholds)
    standalone: Standalone = field(default_factory=Standalone)

    @property
    def yes(self) -> str:
        """Return the standard word for yes."""
        return self.yes_words[0]

    @property
    def no(self) -> str:
        """Return the standard word for no."""
        return self.no_words[0]


def family(language: str) -> Family:
    """Return the family of a BCP 47 tag; unknown languages are alphabetic."""
    if primary(language) in {"zh", "yue", "wuu", "lzh", "ja"}:
        return "logographic"
    return "syllabic" if primary(language) == "ko" else "alphabetic"
