"""What is kept of one use: its published memory, and before that the journal of all uses."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bears.files.journal import Journal
from bears.llm.replies.published import MemoryEntry, PublishedMemory, is_whole, load


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
