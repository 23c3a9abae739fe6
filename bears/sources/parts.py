"""The files of a source as a reader gets them, and what it says of them beside its rows."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, TypeVar

from bears.errors import MalformedRow
from bears.files.intake.hub_rows import hub_rows
from bears.sources.records import SourceRow
from bears.sources.rows import Numbered, Row, read_rows

T = TypeVar("T")
OnBadRow = Literal["stop", "skip"]


@dataclass(eq=False)
class Table:
    """A table that the hub streams; its digest is known once it was read.

    Args:
        hub, revision, config, split: which it is.
        limit: at most so many rows, the first.
        digest: sha256 of the canonical JSON of its rows, a line each.
        size: bytes of that.
    """

    hub: str
    revision: str
    config: str
    split: str
    limit: int | None = None
    digest: Any = field(default_factory=sha256)
    size: int = 0

    @property
    def name(self) -> str:
        """What ``sha256`` of a source calls it."""
        return f"{self.config}/{self.split}" + (f"[:{self.limit}]" if self.limit else "")

    def rows(self) -> Iterator[tuple[int, Row]]:
        """The rows and their positions. Raises as `hub_rows`."""
        self.digest, self.size = sha256(), 0
        streamed = hub_rows(self.hub, self.revision, self.config, self.split)
        for number, (line, row) in enumerate(islice(streamed, self.limit), start=1):
            self.digest.update(line)
            self.size += len(line)
            yield number, row


def numbered(path: Path) -> Iterator[tuple[int, Row]]:
    """The rows of a file and their positions. Raises as `read_rows`."""
    return enumerate(read_rows(path), start=1)


Lines = Callable[[Path], Iterator[tuple[int, Row]]]


@dataclass
class Parts:
    """What a reader reads, and what it has to tell beside its rows.

    Args:
        name: the source.
        tables: part to its files, and the tables of the hub that it is.
        settings: what the configuration tells the reader.
        fields: our words for fields, and what this source calls them.
        folder: where a reader may keep what it fetches by itself.
        notes: what was met with, and how often; it goes into the provenance.
        failures: what of the source could not be had, and why.
        counts: file or table to the number of rows read.
        names: what a file is called in the provenance, where not by its name.
        report: what a person should know of single records: of which, what, and its text.
        warnings: what a person should see in the terminal, whole.
        limit: at most so many rows of each file.
        met: those of our words whose fields some row had.
        on_bad_row: whether `each` stops at a row that cannot be used, or skips it.
        bad: what was wrong with each row that was skipped.
    """

    name: str
    tables: Mapping[str, Sequence[Path | Table]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path(".bears")
    notes: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    counts: dict[Path | Table, int] = field(default_factory=dict)
    names: dict[Path, str] = field(default_factory=dict)
    report: list[tuple[str, str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    fields: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = None
    met: set[str] = field(default_factory=set)
    on_bad_row: OnBadRow = "stop"
    bad: list[str] = field(default_factory=list)

    def rows(self, part: str = "", lines: Lines = numbered) -> Iterator[Numbered]:
        """The rows of a part's tables, one after the other; of all parts' where none is named.

        Args:
            part: its name.
            lines: from a file to its rows, numbered from 1.

        Raises as `read_rows` and `Table.rows`.
        """
        found = chain.from_iterable([self.tables.get(part, ())] if part else self.tables.values())
        # Two patterns may match one file.
        for table in dict.fromkeys(found):
            rows = table.rows() if isinstance(table, Table) else lines(table)
            for number, row in islice(rows, self.limit):
                yield self.called(table), self.count(table, number), row

    def each(
        self, made: Callable[[str, int, Row], T], part: str = "", lines: Lines = numbered
    ) -> Iterator[T]:
        """Yield what is made of each row of a part, without the bad rows that are to be skipped.

        Args:
            made: from the name of the file, the row's position there, and the row.
            part, lines: as of `rows`.

        Raises:
            MalformedRow: a row is no object, or ``made`` refuses it, and ``on_bad_row`` is stop.
        """
        for file, number, row in self.rows(part, lines):
            try:
                if not isinstance(row, dict):
                    raise MalformedRow(file, number, "(row)", f"not an object but {row!r:.40}")
                found = made(file, number, row)
            except MalformedRow as error:
                if self.on_bad_row == "stop":
                    raise MalformedRow(
                        error.file, error.row, error.field, error.problem, self.name
                    ) from None
                self.bad.append(error.what)
                self.report.append((f"{file}, row {number}", f"left out: {error.what}", ""))
            else:
                yield found

    def called(self, table: Path | Table) -> str:
        """A table's name; a file's after as many of its folders as tell it from the others."""
        if isinstance(table, Table):
            return table.name
        return self.names.get(table) or self._called.get(table, table.name)

    @cached_property
    def _called(self) -> dict[Path, str]:
        given = dict.fromkeys(chain.from_iterable(self.tables.values()))
        waiting = [path for path in given if isinstance(path, Path)]
        found: dict[Path, str] = {}
        for depth in range(1, max((len(path.parts) for path in waiting), default=0) + 1):
            names = {path: "/".join(path.parts[-depth:]) for path in waiting}
            met = Counter(names.values())
            found |= {path: name for path, name in names.items() if met[name] == 1}
            waiting = [path for path in waiting if path not in found]
        return found

    def count(self, table: Path | Table, number: int) -> int:
        """Note that ``number`` rows of a file or table were read."""
        self.counts[table] = number
        return number


Reader = Callable[[Parts], Iterator[SourceRow]]
