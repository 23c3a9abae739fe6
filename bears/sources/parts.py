"""The files of a source as a reader gets them, and what it says of them beside its rows."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bears.formats.rows import PoolRow
from bears.sources.rows import Numbered, read_rows
from bears.types import Article, PassageRow


@dataclass
class Parts:
    """What a reader reads, and what it has to tell beside its rows.

    Args:
        name: the source.
        paths: part to its files.
        settings: what the configuration tells the reader.
        folder: where a reader may keep what it fetches by itself.
        notes: what was met with, and how often; it goes into the provenance.
        failures: what of the source could not be had, and why.
        counts: file to the number of rows read.
        names: what a file is called in the provenance, where not by its name.
        report: what a person should know of single records: of which, what, and its text.
    """

    name: str
    paths: Mapping[str, Sequence[Path]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path(".bears")
    notes: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    counts: dict[Path, int] = field(default_factory=dict)
    names: dict[Path, str] = field(default_factory=dict)
    report: list[tuple[str, str, str]] = field(default_factory=list)

    def rows(self, part: str = "") -> Iterator[Numbered]:
        """The rows of a part's files, one file after the other; of all parts' where none is named.

        Raises as `read_rows`.
        """
        named = self.paths[part] if part else (p for paths in self.paths.values() for p in paths)
        # Two patterns may match one file.
        for path in dict.fromkeys(named):
            for number, row in enumerate(read_rows(path), start=1):
                yield path.name, self.count(path, number), row

    def count(self, path: Path, number: int) -> int:
        """Note that ``number`` rows of a file were read."""
        self.counts[path] = number
        return number


Reader = Callable[[Parts], Iterator[Article | PassageRow | PoolRow]]
