"""What is known of a target language: one file under conf/language."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bears.language.tags import primary
from bears.types import Closed

Family = Literal["alphabetic", "syllabic", "logographic"]
"""How much a character says: a sound, a syllable (Korean) or a word (Chinese, Japanese)."""

Kind = Literal["yes_no", "choice", "person", "time", "place", "amount", "manner", "which", "other"]
"""What a question asks for: yes or no, one of two, a person, …, how or why, or any of these."""


@dataclass(frozen=True)
class Prompt(Closed):
    """What a translator is told of the language, in English.

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
class Mood(Closed):
    """What makes a sentence a question.

    Args:
        marks: characters, any of which makes one.
        words: regular expressions, any of which makes one without a mark.
        answers: regular expressions that begin an answer, never a question.
        kinds: regular expressions that tell what a question asks for, by kind; see `kinds_of`.
    """

    marks: str
    words: tuple[str, ...]
    answers: tuple[str, ...]
    kinds: Mapping[Kind, tuple[str, ...]] = field(default_factory=dict)

    def asks(self, text: str) -> bool:
        """Whether ``text`` has a question mark or a question word."""
        return any(mark in text for mark in self.marks) or any(
            re.search(pattern, text, re.IGNORECASE) for pattern in self.words
        )

    def kinds_of(self, text: str) -> set[Kind]:
        """What ``text`` asks for; what an earlier kind has found is no later one's."""
        found: set[Kind] = set()
        for kind, patterns in self.kinds.items():
            shorter = re.sub("|".join(patterns), " ", text, flags=re.IGNORECASE)
            if shorter != text:
                found.add(kind)
            text = shorter
        return found


@dataclass(frozen=True)
class Standalone(Closed):
    """What shows that a question is not understood by itself; regular expressions, without case.

    Args:
        passage: it speaks of the passage that it was written about ("according to the text").
        leans: it means something that it does not name ("When was he born?").
        joins: no expressions: what joins a list, of which an answer is one of several.
    """

    passage: tuple[str, ...] = ()
    leans: tuple[str, ...] = ()
    joins: tuple[str, ...] = ()


@dataclass(frozen=True)
class Numbers(Closed):
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
class Variant(Closed):
    """How another regional or historical form of the language is told from this one.

    A character is foreign when it is an ideograph that one of ``foreign_charsets`` has and
    ``own_charset`` lacks: national character sets hold what their country writes.

    Args:
        own_charset: a codec of Python, or empty.
        foreign_charsets: codecs of Python.
        forbidden: foreign characters that ``own_charset`` has nevertheless.
        allowed: characters that are not foreign after all.
        compounds: words that are not foreign, though one of their characters is elsewhere.
        terms: the other form's words, and what is said here.
        strangers: regular expressions of more of its words, where the context decides.
    """

    own_charset: str = ""
    foreign_charsets: tuple[str, ...] = ()
    forbidden: str = ""
    allowed: str = ""
    compounds: tuple[str, ...] = ()
    terms: Mapping[str, str] = field(default_factory=dict)
    strangers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Thresholds(Closed):
    """Where the gates close.

    Args:
        source_share: greatest share of the source's words that may stand in the translation.
        source_words: least number of such words for that share to mean anything.
        variant_term_length: one foreign term is let pass for each so many characters.
        script_letters: least number of letters for `Language.script_bounds` to apply.
    """

    source_share: float = 0.25
    source_words: int = 4
    variant_term_length: int = 1_000_000
    script_letters: int = 20


@dataclass(frozen=True)
class Language(Closed):
    """A target language.

    Args:
        name: BCP 47 tag.
        title: in English.
        native_name: in itself.
        scripts: Unicode script names of its letters; HAN and KANA stand for themselves.
        min_share: see `bears.language.scripts.script_share`.
        spaced: whether spaces part its words, all of them, so that answers are compared by words.
        yes_words, no_words: the lexicon's word, then others that mean the same.
        unanswerable: what an answer says where the documents hold none.
        quotes: pairs of quotation marks, each a text of two characters.
        titles: pairs of marks around titles.
        prompt: see `Prompt`.
        mood: see `Mood`.
        numbers: see `Numbers`.
        variant: see `Variant`.
        length: least and greatest length of a translation as a multiple of the source's, by the
            source language's `Family`.
        chatter: regular expressions of what models add around a translation, beside the English
            ones that every language has.
        fold: characters that count as the same when answers are compared.
        script_bounds: least and greatest share of further scripts in longer texts.
        thresholds: see `Thresholds`.
        native: passages on which no gate may close.
        calibrated_on: native texts of others that the false alarms of the gates were counted on;
            empty: none were at hand, and verification says so.
        particles: characters that answers are compared without, in the last resort.
        lexicon: words that English questions turn on, and how they may be rendered, both as regular
            expressions; see `bears.language.gates.words`.
        details: the same of words that idioms may stand for.
        loans: words of another script that its texts use as they are (logo, email).
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
        """The lexicon's word for yes."""
        return self.yes_words[0]

    @property
    def no(self) -> str:
        """The lexicon's word for no."""
        return self.no_words[0]


def family(language: str) -> Family:
    """The family of a BCP 47 tag; what is not known is alphabetic."""
    if primary(language) in {"zh", "yue", "wuu", "lzh", "ja"}:
        return "logographic"
    return "syllabic" if primary(language) == "ko" else "alphabetic"
