"""One rendering per term: which terms a text holds, and how people and programs correct them.

A glossary is exchanged as CSV (for spreadsheets) or TBX (ISO 30042, for translation programs).
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree
from xml.parsers import expat

from bears.errors import FormatError
from bears.formats.records import atomic_write, write_text
from bears.translation.spans import whole_word

Origin = Literal["curated", "learned"]

COLUMNS = ("source", "target", "source_language", "target_language", "note")
# What a spreadsheet takes for the beginning of a formula, and what we put before it.
FORMULA = re.compile(r"'*[=+\-@\t\r＝＋－＠]")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
TBX_NAMESPACE = "urn:iso:std:iso:30042:ed-2"
XML_LANGUAGE = "http://www.w3.org/XML/1998/namespace lang"


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
            if problem := _problem(getattr(self, name)):
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
    return not _problem(term) and bool(Glossary([Term(term, "-", "x", "x")]).slice(text))


def parse_terms(answer: str, text: str) -> list[tuple[str, str]]:
    """Read a model's answer ``{"terms": [{"source": …, "target": …}]}`` about a text.

    Raises:
        FormatError: the answer has another form, a source or target is empty or has control
            characters, a source stands there twice or does not occur in the text.
    """
    terms: dict[str, str] = {}
    for number, (source, target) in enumerate(_answered(answer), start=1):
        for name, value in (("source", source), ("target", target)):
            if problem := _problem(value):
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
            if not _problem(target) and occurs(source, text):
                terms.setdefault(source, target)
    pairs = [{"source": source, "target": target} for source, target in terms.items()]
    return json.dumps({"terms": pairs}, ensure_ascii=False)


def write_csv(path: Path, glossary: Glossary) -> None:
    """Write a glossary for a spreadsheet: no cell can be taken for a formula."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for term in glossary:
        languages = (term.source_language, term.target_language)
        writer.writerow(map(guard, (term.source, term.rendering, *languages, term.note)))
    write_text(path, stream.getvalue())


def read_csv(path: Path, origin: Origin = "curated") -> list[Term]:
    """Read what `write_csv` wrote, also after a spreadsheet saved it with ; or tabs, or a BOM.

    Raises:
        FormatError: naming line and column of what is wrong; a source term with two renderings is.
    """
    text = decoded(path)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter(text), strict=True)
    terms: dict[tuple[str, str, str], tuple[int, Term]] = {}
    for line, cells in _numbered(path, rows):
        term = _term_of_row(path, line, cells, origin)
        place = (term.source, term.source_language, term.target_language)
        first, known = terms.setdefault(place, (line, term))
        if known.rendering != term.rendering:
            raise FormatError(
                f"{path}, line {line}, column target: {term.source!r} is rendered "
                f"{term.rendering!r} here and {known.rendering!r} on line {first}; "
                "keep one of them"
            )
    return [term for _, term in terms.values()]


def write_tbx(path: Path, glossary: Glossary) -> None:
    """Write a glossary as TBX-Core of ISO 30042:2019, in the style DCT."""
    root = ElementTree.Element("tbx", {"type": "TBX-Core", "style": "dct", "xml:lang": "en"})
    root.set("xmlns", TBX_NAMESPACE)
    source = _within(root, "tbxHeader", "fileDesc", "sourceDesc", "p")
    source.text = "A glossary of BEARS"
    body = _within(root, "text", "body")
    for number, term in enumerate(glossary, start=1):
        concept = ElementTree.SubElement(body, "conceptEntry", {"id": f"c{number}"})
        if term.note:
            ElementTree.SubElement(concept, "note").text = term.note
        for language, text in (
            (term.source_language, term.source),
            (term.target_language, term.rendering),
        ):
            section = ElementTree.SubElement(concept, "langSec", {"xml:lang": language})
            _within(section, "termSec", "term").text = text
    ElementTree.indent(root)
    with atomic_write(path) as stream:
        ElementTree.ElementTree(root).write(stream, encoding="UTF-8", xml_declaration=True)
        stream.write(b"\n")


def read_tbx(
    path: Path, source_language: str, target_language: str, origin: Origin = "curated"
) -> list[Term]:
    """Read the terms of one pair of languages from TBX, of 2019 or of the older martif form.

    A section in a variety of a language (en-US) counts for the language (en). All terms of the
    source language get the first term of the target language for their rendering.

    Raises:
        FormatError: naming line and column: no well-formed XML, not TBX, a document type with
            declarations of its own or entities, an empty term, a source term with two renderings;
            or no entry has both languages.
    """
    root, places = _parse(path)
    if root.tag not in {"tbx", "martif"}:
        raise _at(path, places[root], f"expected tbx or martif, found {root.tag}")
    terms: dict[str, Term] = {}
    for entry in root.iter():
        if entry.tag not in {"conceptEntry", "termEntry"}:
            continue
        for element, fields in _renderings(entry, source_language, target_language):
            try:
                term = Term(*fields, source_language, target_language, origin, _note(entry))
            except ValueError as error:
                raise _at(path, places[element], str(error)) from None
            known = terms.setdefault(term.source, term)
            if known.rendering != term.rendering:
                raise _at(
                    path,
                    places[element],
                    f"{term.source!r} is rendered {term.rendering!r} here and "
                    f"{known.rendering!r} above; keep one of them",
                )
    if not terms:
        found = sorted({_language(section) for section in root.iter()} - {""})
        raise FormatError(
            f"{path}: no entry has terms in both {source_language} and {target_language}; "
            f"the languages of the file are {', '.join(found) or 'not given'}"
        )
    return list(terms.values())


def _problem(text: str) -> str | None:
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


def guard(cell: str) -> str:
    return f"'{cell}" if FORMULA.match(cell) else cell


def restored(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell


def delimiter(text: str) -> str:
    """What parts the cells of a CSV, since spreadsheets also save it with ; or tabs."""
    return next((c for c in text.partition("\n")[0] if c in ",;\t"), ",")


def decoded(path: Path) -> str:
    """The text of a CSV file. Raises FormatError."""
    data = _bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise FormatError(
            f"{path}, line {line}, byte {column}: not UTF-8; save it again as CSV UTF-8"
        ) from None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FormatError(f"{path}: no such file") from None


def _numbered(path: Path, rows: Any) -> Iterator[tuple[int, list[str]]]:
    """(line on which it begins, cells) of the rows after the header; blank rows are left out."""
    line, header = 1, None
    try:
        for cells in rows:
            if header is None:
                header = tuple(cell.strip() for cell in cells)
                if header != COLUMNS:
                    raise FormatError(
                        f"{path}, line 1: the columns must be {','.join(COLUMNS)}, "
                        f"found {','.join(header)}"
                    )
            elif any(cell.strip() for cell in cells):
                yield line, cells
            line = rows.line_num + 1
    except csv.Error as error:
        raise FormatError(f"{path}, line {line}: not valid CSV ({error})") from None
    if header is None:
        raise FormatError(f"{path}, line 1: empty; the columns must be {','.join(COLUMNS)}")


def _term_of_row(path: Path, line: int, cells: list[str], origin: Origin) -> Term:
    if len(cells) != len(COLUMNS):
        column = COLUMNS[len(cells)] if len(cells) < len(COLUMNS) else str(len(COLUMNS) + 1)
        raise FormatError(
            f"{path}, line {line}, column {column}: expected {len(COLUMNS)} cells, "
            f"found {len(cells)}"
        )
    values = [restored(cell).strip() for cell in cells]
    for name, value in zip(COLUMNS[:-1], values, strict=False):
        if problem := _problem(value):
            raise FormatError(f"{path}, line {line}, column {name}: {problem}")
    note = re.sub("\r\n?", "\n", values[-1])
    if CONTROL.search(note):
        raise FormatError(f"{path}, line {line}, column note: holds control characters: {note!r}")
    source, rendering, source_language, target_language, _ = values
    return Term(source, rendering, source_language, target_language, origin, note)


def _within(element: ElementTree.Element, *tags: str) -> ElementTree.Element:
    for tag in tags:
        element = ElementTree.SubElement(element, tag)
    return element


def _text(element: ElementTree.Element) -> str:
    return re.sub(r"[ \t]*\n\s*", " ", "".join(element.itertext()).strip())


def _note(entry: ElementTree.Element) -> str:
    notes = ("".join(found.itertext()).strip() for found in entry if found.tag == "note")
    return "\n".join(note for note in notes if note)


def _renderings(
    entry: ElementTree.Element, source_language: str, target_language: str
) -> Iterator[tuple[ElementTree.Element, tuple[str, str]]]:
    """The (source element, (source, rendering)) of an entry that has both languages."""
    renderings = _terms_in(entry, target_language)
    for element in _terms_in(entry, source_language) if renderings else ():
        yield element, (_text(element), _text(renderings[0]))


def _language(section: ElementTree.Element) -> str:
    if section.tag not in {"langSec", "langSet"}:
        return ""
    return section.get(XML_LANGUAGE) or section.get("lang") or ""


def _terms_in(entry: ElementTree.Element, language: str) -> list[ElementTree.Element]:
    wanted = f"{language}-".casefold()
    return [
        term
        for section in entry
        if f"{_language(section)}-".casefold().startswith(wanted)
        for term in section.iter("term")
    ]


Place = tuple[int, int]


def _at(path: Path, place: Place, problem: str) -> FormatError:
    return FormatError(f"{path}, line {place[0]}, column {place[1]}: {problem}")


def _parse(path: Path) -> tuple[ElementTree.Element, dict[ElementTree.Element, Place]]:
    """The tree of an XML file without namespaces, and where its elements begin.

    Nothing is expanded or fetched: a document type may name an external file, as the older TBX
    does, which is not opened; declarations and the use of what is declared are refused.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    builder = ElementTree.TreeBuilder()
    places: dict[ElementTree.Element, Place] = {}

    def place() -> Place:
        return parser.CurrentLineNumber, parser.CurrentColumnNumber + 1

    def start(tag: str, attributes: dict[str, str]) -> None:
        places[builder.start(tag.rpartition(" ")[2], attributes)] = place()

    def refuse_declarations(name: str, *document: object) -> None:
        if document[-1]:
            raise _at(path, place(), f"the document type {name} has declarations; take them out")

    def refuse_entity(name: str, *_: object) -> None:
        raise _at(path, place(), f"the entity {name} is not accepted")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: builder.end(tag.rpartition(" ")[2])
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse_declarations
    parser.EntityDeclHandler = refuse_entity
    parser.SkippedEntityHandler = refuse_entity
    parser.buffer_text = True
    try:
        parser.Parse(_bytes(path), True)
    except expat.ExpatError as error:
        raise _at(path, (error.lineno, error.offset + 1), f"not valid XML ({error})") from None
    except (ValueError, LookupError) as error:
        raise _at(path, place(), f"an unknown encoding ({error})") from None
    return builder.close(), places
