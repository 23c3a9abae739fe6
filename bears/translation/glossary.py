"""One rendering per term: find the terms of a text, read a model's terms, and edit them as CSV."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bears.errors import FormatError
from bears.files.intake.files import json_value
from bears.files.spreadsheet import read_named, write_csv
from bears.translation.spans import whole_word
from bears.translation.translator import TERMS

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Glossary:
    """Terms of one language and their renderings in another.

    Args:
        pairs: (term, rendering); the first rendering of a term counts. A term with a capital
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
        """Return the (term, rendering) pairs of the terms in a text, sorted, for use in a key.

        Terms match whole words, if the script has spaces. A term without capitals matches in any
        case. Of overlapping matches the longest counts, then the first.
        """
        taken: set[int] = set()
        found: set[tuple[str, str]] = set()
        for _, start, _, end, source in sorted(self._occurrences(_normal(text))):
            if taken.isdisjoint(range(start, end)):
                taken.update(range(start, end))
                found.add((source, self._renderings[source]))
        return tuple(sorted(found))

    def _occurrences(self, text: str) -> Iterator[tuple[int, int, bool, int, str]]:
        """Yield negative length, start, whether the case differs, end and term: sorted by rank."""
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
    """Return whether `Glossary.slice` finds a term in a text."""
    return not fault_in(term) and bool(Glossary([(term, "-")]).slice(text))


def parse_terms(answer: str, text: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Read a model's answer ``{"terms": [{"source": …, "target": …}]}`` about a text.

    Returns:
        The usable (source, target) pairs: both are clean lines, and the source occurs in the text
        and is new. And what is wrong with the others.
    """
    try:
        rows = TERMS.parse(json_value(answer.encode(), "terms of the answer"))["terms"]
    except (FormatError, ValueError) as error:
        return [], [str(error)]
    terms: dict[str, str] = {}
    problems = []
    for number, row in enumerate(rows, start=1):
        source, target = row["source"], row["target"]
        if problem := fault_in(source):
            problem = f"source {problem}"
        elif problem := fault_in(target):
            problem = f"target {problem}"
        elif source in terms:
            problem = f"{source!r} is a duplicate"
        elif not occurs(source, text):
            problem = f"{source!r} does not occur in the text"
        if problem:
            problems.append(f"terms of the answer, term {number}: {problem}")
        else:
            terms[source] = target
    return list(terms.items()), problems


def fault_in(text: str) -> str | None:
    """Return what keeps a text from being one clean line, or None."""
    if not text.strip():
        return "is empty"
    if text != text.strip():
        return f"has white space around it: {text!r}"
    if CONTROL.search(text) or {"\n", "\t"} & set(text):
        return f"holds control characters: {text!r}"
    return None


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _lower(text: str) -> str:
    """Return the text in lower case, with the same length."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


COLUMNS = ("source", "target", "source_language", "target_language", "note")


@dataclass(frozen=True, slots=True)
class Term:
    """A source term and its one rendering.

    Args:
        source: as in the texts.
        rendering: as in the translations.
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
        """Return the part that has one rendering."""
        return self.source, self.source_language, self.target_language


def write_glossary(path: Path, terms: Iterable[Term]) -> int:
    """Write the terms as sorted CSV, the first entry of each; return how many there are."""
    first: dict[tuple[str, str, str], Term] = {}
    for term in terms:
        first.setdefault(term.place, term)
    rows = (
        (t.source, t.rendering, t.source_language, t.target_language, t.note)
        for _, t in sorted(first.items())
    )
    write_csv(path, COLUMNS, rows)
    return len(first)


def read_glossary(path: Path) -> list[Term]:
    """Read what `write_glossary` wrote, also after a spreadsheet saved it with ; or tabs, or a BOM.

    Raises:
        FormatError: with the line; for example, a source term has two renderings.
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
