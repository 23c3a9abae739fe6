"""One rendering per term: which terms a text holds, what a model says of them, and their table."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bears.errors import FormatError
from bears.files.intake.json_text import json_value
from bears.files.spreadsheet import read_named, write_csv
from bears.translation.spans import whole_word

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Glossary:
    """Terms of one language and their renderings in another.

    Args:
        pairs: (term, rendering); the first rendering of a term stands. A term with a capital
            letter is a name, and its case counts.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._renderings: dict[str, str] = {}
        for source, rendering in pairs:
            self._renderings.setdefault(source, rendering)
        self._terms = [(_normal(source), source) for source in self._renderings]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._renderings.items())

    def slice(self, text: str) -> tuple[tuple[str, str], ...]:
        """The (term, rendering) whose term occurs in a text, sorted, so fit for a hash key.

        A term occurs as whole words (where the script has spaces). One written without capitals
        occurs in any case. Where occurrences overlap the longest stands, then the first.
        """
        taken: set[int] = set()
        found: set[tuple[str, str]] = set()
        for _, start, _, end, source in sorted(self._occurrences(_normal(text))):
            if taken.isdisjoint(range(start, end)):
                taken.update(range(start, end))
                found.add((source, self._renderings[source]))
        return tuple(sorted(found))

    def _occurrences(self, text: str) -> Iterator[tuple[int, int, bool, int, str]]:
        """Length below zero, start, whether the case differs, end and term: sorted by rank."""
        lower = _lower(text)
        for term, source in self._terms:
            searched = lower if term == _lower(term) else text
            start = searched.find(term)
            while start >= 0:
                end = start + len(term)
                if whole_word(text, start, end):
                    yield -len(term), start, text[start:end] != term, end, source
                start = searched.find(term, start + 1)


def occurs(term: str, text: str) -> bool:
    """Whether a term is one that `Glossary.slice` finds in a text."""
    return not fault_in(term) and bool(Glossary([(term, "-")]).slice(text))


def parse_terms(answer: str, text: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Read a model's answer ``{"terms": [{"source": …, "target": …}]}`` about a text.

    Returns:
        The (source, target) that fit: neither is empty or has control characters, and the source
        occurs in the text and stands there for the first time. And what is wrong with the others.
    """
    try:
        value = json_value(answer.encode(), "terms of the answer")
    except (FormatError, ValueError) as error:
        return [], [str(error)]
    if (
        not isinstance(value, dict)
        or value.keys() != {"terms"}
        or not isinstance(value["terms"], list)
    ):
        return [], ['terms of the answer: expected an object with the list "terms" alone']
    terms: dict[str, str] = {}
    problems = []
    for number, term in enumerate(value["terms"], start=1):
        if problem := _fault_of_term(term, terms, text):
            problems.append(f"terms of the answer, term {number}: {problem}")
        else:
            terms[term["source"]] = term["target"]
    return list(terms.items()), problems


def _fault_of_term(term: Any, known: Iterable[str], text: str) -> str | None:
    strings = isinstance(term, dict) and all(isinstance(value, str) for value in term.values())
    if not strings or term.keys() != {"source", "target"}:
        return "expected source and target, both strings"
    for name in ("source", "target"):
        if problem := fault_in(term[name]):
            return f"{name} {problem}"
    source = term["source"]
    if source in known:
        return f"{source!r} stands there twice"
    return None if occurs(source, text) else f"{source!r} does not occur in the text"


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


COLUMNS = ("source", "target", "source_language", "target_language", "note")


@dataclass(frozen=True, slots=True)
class Term:
    """A source term and the one way in which it is rendered.

    Args:
        source: as it stands in texts.
        rendering: what stands for it in translations.
        source_language: BCP 47 tag.
        target_language: BCP 47 tag.
        note: for people.
    """

    source: str
    rendering: str
    source_language: str
    target_language: str
    note: str = ""

    @property
    def place(self) -> tuple[str, str, str]:
        """What has one rendering."""
        return self.source, self.source_language, self.target_language


def write_glossary(path: Path, terms: Iterable[Term]) -> int:
    """Write terms for a spreadsheet, sorted, the first of each; return how many there are."""
    kept: dict[tuple[str, str, str], Term] = {}
    for term in terms:
        kept.setdefault(term.place, term)
    rows = (
        (t.source, t.rendering, t.source_language, t.target_language, t.note)
        for _, t in sorted(kept.items())
    )
    write_csv(path, COLUMNS, rows)
    return len(kept)


def read_glossary(path: Path) -> list[Term]:
    """Read what `write_glossary` wrote, also after a spreadsheet saved it with ; or tabs, or a BOM.

    Raises:
        FormatError: with the line of what is wrong; a source term with two renderings is.
    """
    header, rows = read_named(path)
    if [cell.strip() for cell in header] != [*COLUMNS]:
        raise FormatError(
            f"{path}, line 1: the columns must be {','.join(COLUMNS)}, found {','.join(header)!r}"
        )
    terms: dict[tuple[str, str, str], Term] = {}
    for line, row in rows:
        values = [cell.strip() for cell in row.values()]
        for name, value in zip(COLUMNS[:-1], values, strict=False):
            if problem := fault_in(value):
                raise FormatError(f"{path}, line {line}, column {name}: {problem}")
        term = Term(*values)
        known = terms.setdefault(term.place, term)
        if known.rendering != term.rendering:
            raise FormatError(
                f"{path}, line {line}: {term.source!r} is rendered {term.rendering!r} here and "
                f"{known.rendering!r} above; keep one of them"
            )
    return list(terms.values())
