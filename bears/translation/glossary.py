"""One rendering per term: which terms a text holds, and what a model says of them."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from bears.errors import FormatError
from bears.translation.spans import whole_word

Origin = Literal["curated", "learned"]
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Term:
    """A source term and the one way in which it is rendered.

    Args:
        source: as it stands in texts; with a capital letter it is a name, and its case counts.
        rendering: what stands for it in translations.
        source_language: BCP 47 tag.
        target_language: BCP 47 tag.
        origin: ``curated`` by a person, or ``learned`` from a translation.
        note: for people.

    Raises:
        ValueError: a term, rendering or language is empty, has white space around it or holds
            control characters.
    """

    source: str
    rendering: str
    source_language: str
    target_language: str
    origin: Origin = "learned"
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("source", "rendering", "source_language", "target_language"):
            if problem := fault_in(getattr(self, name)):
                raise ValueError(f"{name} {problem}")
        if CONTROL.search(self.note):
            raise ValueError("note holds control characters")


class Glossary:
    """Terms, one rendering for each source term and pair of languages.

    Args:
        terms: what goes before what is told in `merged`.
    """

    def __init__(self, terms: Iterable[Term] = ()) -> None:
        self._terms: dict[tuple[str, str, str], Term] = {}
        for term in terms:
            place = (term.source, term.source_language, term.target_language)
            known = self._terms.get(place)
            if known is None or term.origin == "curated":
                self._terms[place] = term
        self._names = {_normal(term.source): term for term in self}
        self._words = {_lower(text): term for text, term in self._names.items() if _is_word(text)}
        self._lengths = _lengths(self._names)

    def __len__(self) -> int:
        return len(self._terms)

    def __iter__(self) -> Iterator[Term]:
        """The terms, sorted by source, source language and target language."""
        return (self._terms[place] for place in sorted(self._terms))

    def merged(self, terms: Iterable[Term]) -> Glossary:
        """A new glossary with more terms.

        Of two renderings a curated one goes before a learned one, the later of two curated ones
        (it corrects the other), the earlier of two learned ones (requests rely on it already).
        """
        return Glossary([*self._terms.values(), *terms])

    def pair(self, source_language: str, target_language: str) -> Glossary:
        """The terms of one pair of languages."""
        pair = (source_language, target_language)
        return Glossary(t for t in self if (t.source_language, t.target_language) == pair)

    def slice(self, text: str) -> tuple[tuple[str, str], ...]:
        """The (term, rendering) whose term occurs in a text, sorted, so fit for a hash key.

        A term occurs as whole words (where the script has spaces). One written without capitals
        occurs in any case. Where occurrences overlap the longest stands, then the first.

        Raises:
            ValueError: the glossary holds several pairs of languages; take `pair` first.
        """
        if len({place[1:] for place in self._terms}) > 1:
            raise ValueError("a slice is of one pair of languages: call pair() first")
        taken: set[int] = set()
        found: set[tuple[str, str]] = set()
        for start, end, term in sorted(self._occurrences(_normal(text)), key=_longest_first):
            if taken.isdisjoint(range(start, end)):
                taken.update(range(start, end))
                found.add((term.source, term.rendering))
        return tuple(sorted(found))

    def _occurrences(self, text: str) -> Iterator[tuple[int, int, Term]]:
        lower = _lower(text)
        for start in range(len(text)):
            for length in self._lengths.get(lower[start], ()):
                end = start + length
                term = self._names.get(text[start:end]) or self._words.get(lower[start:end])
                if term is not None and end <= len(text) and whole_word(text, start, end):
                    yield start, end, term


def occurs(term: str, text: str) -> bool:
    """Whether a term is one that `Glossary.slice` finds in a text."""
    return not fault_in(term) and bool(Glossary([Term(term, "-", "x", "x")]).slice(text))


def parse_terms(answer: str, text: str) -> list[tuple[str, str]]:
    """Read a model's answer ``{"terms": [{"source": …, "target": …}]}`` about a text.

    Raises:
        FormatError: the answer has another form, a source or target is empty or has control
            characters, a source stands there twice or does not occur in the text.
    """
    terms: dict[str, str] = {}
    for number, (source, target) in enumerate(_answered(answer), start=1):
        for name, value in (("source", source), ("target", target)):
            if problem := fault_in(value):
                raise FormatError(f"terms of the answer, term {number}: {name} {problem}")
        if source in terms:
            raise FormatError(f"terms of the answer, term {number}: {source!r} stands there twice")
        if not occurs(source, text):
            raise FormatError(
                f"terms of the answer, term {number}: {source!r} does not occur in the text"
            )
        terms[source] = target
    return list(terms.items())


def usable_terms(answer: str, text: str) -> str:
    """What `parse_terms` takes of a model's answer: the terms that fit, the first of each."""
    terms: dict[str, str] = {}
    with suppress(FormatError):
        for source, target in _answered(answer):
            if not fault_in(target) and occurs(source, text):
                terms.setdefault(source, target)
    pairs = [{"source": source, "target": target} for source, target in terms.items()]
    return json.dumps({"terms": pairs}, ensure_ascii=False)


def fault_in(text: str) -> str | None:
    if not text.strip():
        return "is empty"
    if text != text.strip():
        return f"has white space around it: {text!r}"
    if CONTROL.search(text) or "\n" in text or "\t" in text:
        return f"holds control characters: {text!r}"
    return None


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _lower(text: str) -> str:
    """Lower case, of the same length."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _is_word(term: str) -> bool:
    return term == _lower(term)


def _lengths(terms: Iterable[str]) -> dict[str, list[int]]:
    """The lengths of the terms by their first letter in lower case."""
    lengths: dict[str, set[int]] = {}
    for term in terms:
        lengths.setdefault(_lower(term[0]), set()).add(len(term))
    return {first: sorted(found) for first, found in lengths.items()}


def _longest_first(occurrence: tuple[int, int, Term]) -> tuple[int, int]:
    start, end, _ = occurrence
    return start - end, start


def _answered(answer: str) -> Iterator[tuple[str, str]]:
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"terms of the answer: not valid JSON ({error})") from None
    if not isinstance(value, dict) or value.keys() != {"terms"}:
        raise FormatError('terms of the answer: expected an object with "terms" alone')
    if not isinstance(value["terms"], list):
        raise FormatError('terms of the answer: "terms" is not a list')
    for number, term in enumerate(value["terms"], start=1):
        if not isinstance(term, dict) or term.keys() != {"source", "target"}:
            raise FormatError(f"terms of the answer, term {number}: expected source and target")
        if not all(isinstance(text, str) for text in term.values()):
            raise FormatError(f"terms of the answer, term {number}: expected strings")
        yield term["source"], term["target"]
