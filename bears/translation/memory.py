"""The published translation memory: what `translate` replays, sorted, in git.

An entry's key is a hash of everything that can change its text. The memory is a pure function of
its set of entries, so two machines that hold the same translations publish the same bytes.
"""

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from bears.errors import MemoryCorrupt
from bears.formats.exclusive import exclusive
from bears.formats.records import read_lines, write_lines

Field = Literal["question", "gold_answer", "content", "terms"]

_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class TranslationRequest:
    """One text to translate.

    Args:
        record_id: the question or document that it belongs to.
        field: which of its fields it is.
        source_language: BCP 47 tag of ``text``.
        text: the source text.
        context: what else is said with it, such as its slice of the glossary.
    """

    record_id: str
    field: Field
    source_language: str
    text: str
    context: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Translator:
    """Who translates, as far as it can change a text.

    Args:
        name: of the file under conf/translator.
        request: model, parameters, prompt version and whatever else can change a text.
        target: BCP 47 tag of the language that is translated into.
    """

    name: str
    request: Mapping[str, Any]
    target: str

    def key(self, request: TranslationRequest) -> str:
        """sha256 over the JSON of translator, languages, field, source text and context.

        The JSON has no white space, its names are sorted, and ``context`` is left out when empty.
        """
        content = {
            "translator": self.name,
            "request": self.request,
            "target": self.target,
            "source_language": request.source_language,
            "field": request.field,
            "text": request.text,
        }
        canonical = _canonical(content | ({"context": request.context} if request.context else {}))
        return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """One translation.

    Args:
        key: see `Translator.key`.
        record_id: set only where one text has several published translations: the record that
            this one belongs to.
        field: of the record.
        text: the source text, so that a person can read the memory.
        translation: what replaces it.
    """

    key: str
    record_id: str
    field: Field
    text: str
    translation: str


class PublishedMemory:
    """Entries by key; a record's own entry goes before the general one.

    Args:
        entries: any number of them.

    Raises:
        MemoryCorrupt: two entries for one key and record hold different translations.
    """

    def __init__(self, entries: Iterable[MemoryEntry] = ()) -> None:
        self._entries: dict[tuple[str, str], MemoryEntry] = {}
        for entry in entries:
            known = self._entries.setdefault((entry.key, entry.record_id), entry)
            if known.translation != entry.translation:
                raise MemoryCorrupt(
                    f"two translations of {entry.text!r:.60}: {known.translation!r:.60} and "
                    f"{entry.translation!r:.60}; keep one of the lines with key {entry.key}"
                )

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[MemoryEntry]:
        return iter(self._entries.values())

    def get(self, key: str, record_id: str) -> MemoryEntry | None:
        """The entry for a key, the record's own one first."""
        return self._entries.get((key, record_id)) or self._entries.get((key, ""))

    def add(self, entry: MemoryEntry) -> None:
        """Take one entry in; it replaces the one of the same key and record."""
        self._entries[entry.key, entry.record_id] = entry

    def merged(self, entries: Iterable[MemoryEntry]) -> "PublishedMemory":
        """A new memory in which ``entries`` replace those of the same key and record."""
        merged = PublishedMemory(self)
        for entry in entries:
            merged.add(entry)
        return merged

    def save(self, path: Path) -> None:
        """Write JSON Lines sorted by key and record, atomically."""
        write_lines(path, (asdict(self._entries[place]) for place in sorted(self._entries)))


def extend(path: Path, entries: Iterable[MemoryEntry]) -> tuple[int, int]:
    """Put entries into the memory at ``path``, one process at a time.

    Returns:
        How many entries it holds then, and how many of them are new.
    """
    with exclusive(path):
        before = load(path)
        after = before.merged(entries)
        after.save(path)
    return len(after), len(after) - len(before)


def load(path: Path) -> PublishedMemory:
    """Read a published memory; an absent file is an empty one.

    Raises:
        MemoryCorrupt: naming the line that is no entry, or two entries that disagree.
        FormatError: a line is not JSON.
    """
    if not path.exists():
        return PublishedMemory()
    names = {each.name for each in fields(MemoryEntry)}
    entries = []
    for number, row in read_lines(path):
        if not isinstance(row, dict) or row.keys() != names:
            raise MemoryCorrupt(f"{path}, line {number}: expected the fields {sorted(names)}")
        strings = all(isinstance(value, str) for value in row.values())
        if not strings or not row["translation"].strip():
            raise MemoryCorrupt(f"{path}, line {number}: expected strings, and a translation")
        entries.append(MemoryEntry(**row))
    return PublishedMemory(entries)
