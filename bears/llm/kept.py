"""What is kept of one use: its published memory, and before that the journal of all uses."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bears.errors import MemoryCorrupt
from bears.files.journal import Journal
from bears.files.lock import locked_folder
from bears.files.records import read_lines, write_lines

HALF = re.compile("[\ud800-\udfff]")
"""Of a surrogate pair, which models do send."""

_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def key_of(content: Mapping[str, Any]) -> str:
    """sha256 over the JSON of ``content``, without white space and with its names sorted."""
    return hashlib.sha256(_canonical(content).encode("utf-8")).hexdigest()


def is_whole(*texts: str) -> bool:
    """Whether ``texts`` can be written as UTF-8: none has half of a surrogate pair."""
    return not any(HALF.search(text) for text in texts)


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """One answer.

    Args:
        key: over everything that can change the answer.
        record_id: set only where one request has several published answers: the record that this
            one belongs to.
        field: of the record.
        text: what was asked about, so that a person can read the memory.
        answer: what is kept; the file calls it by the name of the use.
    """

    key: str
    record_id: str
    field: str
    text: str
    answer: str

    def row(self, name: str) -> dict[str, str]:
        """A line of the file of the use ``name``."""
        place = {"key": self.key, "record_id": self.record_id, "field": self.field}
        return place | {"text": self.text, name: self.answer}


class PublishedMemory:
    """Entries by key; a record's own entry goes before the general one.

    Args:
        entries: any number of them.

    Raises:
        MemoryCorrupt: two entries for one key and record hold different answers.
    """

    def __init__(self, entries: Iterable[MemoryEntry] = ()) -> None:
        self._entries: dict[tuple[str, str], MemoryEntry] = {}
        for entry in entries:
            known = self._entries.setdefault((entry.key, entry.record_id), entry)
            if known.answer != entry.answer:
                raise MemoryCorrupt(
                    f"two answers for {entry.text!r:.60}: {known.answer!r:.60} and "
                    f"{entry.answer!r:.60}; keep one of the lines with key {entry.key}"
                )

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[MemoryEntry]:
        return iter(self._entries.values())

    def get(self, key: str, record_id: str) -> MemoryEntry | None:
        """The entry for a key, the record's own one first."""
        return self._entries.get((key, record_id)) or self._entries.get((key, ""))

    def add(self, *entries: MemoryEntry) -> None:
        """Take entries in; they replace those of the same key and record."""
        self._entries |= {(entry.key, entry.record_id): entry for entry in entries}

    def save(self, path: Path, name: str) -> None:
        """Write JSON Lines of the use ``name``, sorted by key and record, atomically."""
        write_lines(path, (self._entries[place].row(name) for place in sorted(self._entries)))


def extend(path: Path, name: str, entries: Iterable[MemoryEntry]) -> tuple[int, int]:
    """Put entries into the memory at ``path`` of the use ``name``, one process at a time.

    Returns:
        How many entries it holds then, and how many of them are new.
    """
    with locked_folder(path):
        memory = load(path, name)
        before = len(memory)
        memory.add(*entries)
        memory.save(path, name)
    return len(memory), len(memory) - before


def load(path: Path, name: str) -> PublishedMemory:
    """Read the published memory of the use ``name``; an absent file is an empty one.

    Raises:
        MemoryCorrupt: naming the line that is no entry, or two entries that disagree.
        FormatError: a line is not JSON.
    """
    if not path.exists():
        return PublishedMemory()
    names = {"key", "record_id", "field", "text", name}
    entries = []
    for number, row in read_lines(path):
        if not isinstance(row, dict) or row.keys() != names:
            raise MemoryCorrupt(f"{path}, line {number}: expected the fields {sorted(names)}")
        answer = row.pop(name)
        strings = all(isinstance(value, str) for value in (answer, *row.values()))
        if not strings or not answer.strip():
            raise MemoryCorrupt(f"{path}, line {number}: expected strings, and a {name}")
        entries.append(MemoryEntry(**row, answer=answer))
    return PublishedMemory(entries)


@dataclass(frozen=True)
class Kept:
    """The two layers of a use.

    Args:
        name: of the use.
        memory: the published memory.
        root: the user's checkout, which holds the journal.
    """

    name: str
    memory: Path
    root: Path

    @property
    def journal(self) -> Journal:
        """Of what was paid for; all uses share it."""
        return Journal(self.root / ".bears" / "journal.jsonl")

    def rows(self) -> Iterator[dict[str, Any]]:
        """The journal's rows of this use, without those that no file could hold."""
        name = self.name
        rows = (row for row in self.journal.rows() if name in row)
        return (row for row in rows if is_whole(row["text"], row[name], *row["reasons"]))

    def known(self) -> PublishedMemory:
        """The published memory, with the journal's answers where it has none."""
        name, known = self.name, PublishedMemory()
        for row in self.rows():
            if row["kind"] == name:
                known.add(MemoryEntry(row["key"], "", row["field"], row["text"], row[name]))
        known.add(*load(self.memory, name))
        return known
