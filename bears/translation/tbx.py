"""Glossaries as TBX (ISO 30042), for translation programs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

from bears.errors import FormatError
from bears.formats.records import atomic_write, read_bytes
from bears.translation.glossary import Glossary, Origin, Term

TBX_NAMESPACE = "urn:iso:std:iso:30042:ed-2"
XML_LANGUAGE = "http://www.w3.org/XML/1998/namespace lang"
Place = tuple[int, int]


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
        parser.Parse(read_bytes(path), True)
    except expat.ExpatError as error:
        raise _at(path, (error.lineno, error.offset + 1), f"not valid XML ({error})") from None
    except (ValueError, LookupError) as error:
        raise _at(path, place(), f"an unknown encoding ({error})") from None
    return builder.close(), places
