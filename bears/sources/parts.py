"""The files of a source, and what its reader reports beside its records."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from bears.config.shape import Source
from bears.errors import MalformedRow
from bears.layout import LOCAL
from bears.sources.naming import Naming, Words
from bears.sources.records import RowRecords
from bears.sources.rows import BadField, Numbered, Row, read_rows

T = TypeVar("T")


def numbered(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a file and their positions. Raises what `read_rows` raises."""
    return enumerate(read_rows(path), start=1)


Lines = Callable[[Path], Iterator[tuple[int, Row]]]


@dataclass
class ReadingReport:
    """What a reader reports beside its records.

    Args:
        notes: the number of times that something was met; goes into the provenance.
        failures: what of the source could not be read, and why.
        remarks: what a person should know of single records: which one, what, and its text.
        warnings: sentences to show in the terminal.
        skipped: what was wrong with each row that was skipped.
    """

    notes: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    remarks: list[tuple[str, str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


@dataclass
class Parts:
    """The tables of a source, and how far they are read.

    Args:
        source: its description.
        tables: the files of each part.
        folder: where a reader may keep what it fetches by itself.
        dataset: what the records name as their source; empty: the source's name.
        limits: the most rows to read of single parts, in place of the source's limit.
        counts: the number of rows read from each file.
        names: what a file is called in the provenance, if not by its name.
        cut: whether a limit was reached.
        met: those of our words whose fields some row had.
        report: what the reader has to say.
    """

    source: Source
    tables: Mapping[str, Sequence[Path]]
    folder: Path = LOCAL
    dataset: str = ""
    limits: dict[str, int] = field(default_factory=dict)
    counts: dict[Path, int] = field(default_factory=dict)
    names: dict[Path, str] = field(default_factory=dict)
    cut: bool = False
    met: set[str] = field(default_factory=set)
    report: ReadingReport = field(default_factory=ReadingReport)

    def __post_init__(self) -> None:
        self.dataset = self.dataset or self.name

    @property
    def name(self) -> str:
        """Return the source's name."""
        return self.source.name

    def rows(self, part: str = "", lines: Lines = numbered) -> Iterator[Numbered]:
        """Yield the rows of a part's files, or of all parts if none is named.

        Args:
            part: its name.
            lines: from a file to its rows, numbered from 1.

        Raises what ``lines`` raises.
        """
        found = [self.tables.get(part, ())] if part else self.tables.values()
        # Two patterns may match one file.
        files = dict.fromkeys(chain.from_iterable(found))
        given = ((file, number, row) for file in files for number, row in lines(file))
        limit = self.limits.get(part, self.source.limit)
        for n, (file, number, row) in enumerate(islice(given, limit), start=1):
            self.cut = self.cut or n == limit
            yield self.called(file), self.count(file, number), row

    def each(
        self,
        made: Callable[[Row], T],
        part: str = "",
        lines: Lines = numbered,
        words: Words | None = None,
    ) -> Iterator[T]:
        """Yield what is made of each row of a part, without the bad rows if those are skipped.

        Args:
            made: from a row.
            part, lines: see `rows`.
            words: the names of its fields, by which ``made`` knows them; None: as they are.

        Raises:
            MalformedRow: a row is not an object, or ``made`` raises BadField, and the source
                stops at such rows.
        """
        naming = words and Naming(words, self.source.fields or {}, self.name, self.met)
        for file, number, row in self.rows(part, lines):
            try:
                if not isinstance(row, dict):
                    raise BadField("(row)", f"not an object but {row!r:.40}")
                found = made(naming.renamed(row) if naming else row)
            except BadField as bad:
                error = MalformedRow(file, number, bad.field, bad.problem, self.name)
                if self.source.on_bad_row == "stop":
                    raise error from None
                self.report.skipped.append(error.what)
                self.report.remarks.append((f"{file}, row {number}", f"left out: {error.what}", ""))
            else:
                yield found

    def called(self, file: Path) -> str:
        """Return the name of a file, after some of its folders if another one has the same name."""
        return self.names.get(file) or self._called.get(file, file.name)

    @cached_property
    def _called(self) -> dict[Path, str]:
        files = [*dict.fromkeys(chain.from_iterable(self.tables.values()))]
        same = Counter(file.name for file in files)
        above = os.path.commonpath([file.parent for file in files]) if files else ""
        return {file: file.relative_to(above).as_posix() for file in files if same[file.name] > 1}

    def count(self, file: Path, number: int) -> int:
        """Record that ``number`` rows of a file were read, and return it."""
        self.counts[file] = number
        return number


Reader = Callable[[Parts], Iterator[RowRecords]]
