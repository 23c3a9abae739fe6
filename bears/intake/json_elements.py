"""The elements of a JSON file that may be larger than memory, one after the other."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from bears.errors import FormatError
from bears.intake.files import decoded, opened
from bears.intake.json_structure import CHUNK, Structure
from bears.intake.json_text import json_value
from bears.intake.limits import beyond, limits

Cut = tuple[bytes, bytes, int]
"""What stands before a comma or a bracket, that mark, and the depth after it."""
ENDS = {b"[": b"]", b"{": b"}"}
KINDS = {b"[": "array", b"{": "object"}
WHITE = b" \t\r\n"


def elements(path: Path, key: str = "") -> Iterator[bytes]:
    """Yield the elements of a list as they stand in its file.

    They are cut but not read: `json_value` says whether one is JSON.

    Args:
        path: the file; it holds a list, or an object.
        key: of the object's member that is the list; empty: the file is the list.

    Raises:
        FormatError: it is no such file, truncated, or beyond the limits.
    """
    return _inside(path, key, b"[")


def items(path: Path, key: str = "") -> Iterator[Any]:
    """Yield the values of what `elements` cuts. Raises FormatError, naming the element."""
    for number, element in enumerate(elements(path, key), start=1):
        yield json_value(element, f"{path}, record {number}")


def pairs(path: Path, key: str) -> Iterator[tuple[str, Any]]:
    """Yield the members of an object that is the member ``key`` of the object in a file.

    Raises:
        FormatError: as `items`, or a name stands twice.
    """
    names: set[str] = set()
    for number, member in enumerate(_inside(path, key, b"{"), start=1):
        where = f"{path}, {key}, member {number}"
        name, value = _member(member, where, names)
        yield name, value


def outline(path: Path) -> Iterator[tuple[str | None, bytes]]:
    """Yield (name, how it begins) of each list and object in the first value of a file.

    The name of a list by itself is None. What follows the first value is not looked at, since JSON
    Lines begin with a value too.

    Raises:
        FormatError: as `elements`.
    """
    where = str(path)
    with closing(opened(path)) as stream:
        cuts = _cuts(stream, where, 2)
        before, bracket, depth = next(cuts)
        if bracket == b"[":
            yield None, bracket
            return
        names: set[str] = set()
        while depth:
            before, mark, depth = next(cuts)
            if mark in ENDS:
                name, _ = _member(before + b"null", where, names)
                inner, _, depth = next(cuts)
                yield name, mark + inner


def _inside(path: Path, key: str, bracket: bytes) -> Iterator[bytes]:
    """The elements of the list or object that a file holds under ``key``."""
    where = str(path)
    with closing(opened(path)) as stream:
        cuts = _cuts(stream, where, 2 if key else 1)
        before, found, _ = next(cuts)
        if before.strip(WHITE) or found != (b"{" if key else bracket):
            decoded(before + found, where)
            expected = "an object" if key else f"a JSON {KINDS[bracket]}"
            raise FormatError(f"{where}: expected {expected}, found {(before + found)[:40]!r}")
        yield from _below(cuts, key, bracket, where) if key else _elements(cuts, bracket, where)
        for before, found, _ in cuts:
            raise FormatError(f"{where}: more than one value; first {(before + found)[:40]!r}")


def _below(cuts: Iterator[Cut], key: str, bracket: bytes, where: str) -> Iterator[bytes]:
    """The elements of the member ``key`` of an object that was just entered."""
    names: set[str] = set()
    found = closed = False
    for before, mark, depth in cuts:
        if mark in ENDS:
            chosen = _member(before + b"null", where, names)[0] == key and mark == bracket
            for element in _elements(cuts, mark, where):
                if chosen:
                    yield element
            found, closed = found or chosen, True
            continue
        if not closed:
            _member(before, where, names)
        elif before.strip(WHITE):
            raise FormatError(f"{where}: not valid JSON (no comma before {before[:40]!r})")
        closed = False
        if not depth:
            _check_end(mark, b"{", where)
            break
    if not found:
        raise FormatError(f"{where}: the object has no {KINDS[bracket]} {key!r}")


def _elements(cuts: Iterator[Cut], bracket: bytes, where: str) -> Iterator[bytes]:
    """What stands between the commas, up to the bracket that ends what ``bracket`` began."""
    first = True
    for before, mark, _ in cuts:
        # What is blank beside a comma is an element too few, and no JSON.
        if mark == b"," or not first or before.strip(WHITE):
            yield before
        if mark != b",":
            _check_end(mark, bracket, where)
            return
        first = False


def _check_end(mark: bytes, bracket: bytes, where: str) -> None:
    if mark != ENDS[bracket]:
        raise FormatError(f"{where}: not valid JSON ({mark!r} ends what {bracket!r} began)")


def _member(member: bytes, where: str, names: set[str]) -> tuple[str, Any]:
    """Name and value of a member of an object that has the members ``names`` by now."""
    value = json_value(b"{" + member + b"}", where)
    if len(value) != 1:
        raise FormatError(f"{where}: not valid JSON (a name and its value are missing)")
    [(name, content)] = value.items()
    if name in names:
        raise FormatError(f"{where}: not valid JSON (the key {name!r:.80} stands twice)")
    names.add(name)
    return name, content


def _cuts(stream: IO[bytes], where: str, depth: int) -> Iterator[Cut]:
    """A file cut at the commas and brackets that part what stands at most at ``depth``."""
    structure = Structure(where)
    begun: list[bytes] = []
    size, place = 0, -1
    piece = stream.read(CHUNK).removeprefix(BOM_UTF8)
    while piece:
        start = 0
        for place, there in structure.marks(piece, depth):
            yield b"".join([*begun, piece[start:place]]), piece[place : place + 1], there
            begun, size, start = [], 0, place + 1
        begun.append(piece[start:])
        size += len(begun[-1])
        if size > limits().whole_bytes:
            raise beyond(where, "a value is too large", "whole_bytes")
        piece = stream.read(CHUNK)
    rest = b"".join(begun).strip(WHITE)
    if structure.depth or rest or place < 0:
        decoded(rest, where)
        problem = "it ends within a value" if structure.depth else f"found {rest[:40]!r}"
        raise FormatError(f"{where}: not valid JSON ({problem if rest or place >= 0 else 'empty'})")
