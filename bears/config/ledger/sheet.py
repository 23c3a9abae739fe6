"""Tables that people fill in, and in which each row has a digest of what it shows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from bears.errors import BearsError, ConfigurationError, FormatError
from bears.files.records import digest_of
from bears.files.spreadsheet import read_named, write_csv

Row = dict[str, str]
E = TypeVar("E")
SHOWN = "shown"
"""The column of the digests."""
MOST = 20
"""How many problems of a table to list."""


@dataclass(frozen=True)
class Sheet:
    """A table in which people decide.

    Args:
        place: the columns that name an item.
        texts: the columns that people read.
        blanks: the columns that they fill in.
        decisive: those of the blanks that make a row a decision.
        about: what the decisions are about, such as the pair of systems.
        choices: what people may write.
        optional: columns that a table may lack.
        bare: whether a row may have the names of its item alone. Numbers of a draw name nothing.
    """

    place: Sequence[str]
    texts: Sequence[str]
    blanks: Sequence[str]
    decisive: Sequence[str] = ("decision",)
    about: str = ""
    choices: Sequence[str] = ()
    optional: Sequence[str] = ()
    bare: bool = True

    @property
    def columns(self) -> list[str]:
        """Return all columns, in order."""
        return [*self.place, *self.texts, *self.blanks, SHOWN]

    def digest(self, row: Mapping[str, Any]) -> str:
        """Return a digest of what a row shows. Spaces do not count: spreadsheets change them."""
        cells = [_plain(row.get(name)) for name in (*self.place, *self.texts)]
        return digest_of({"about": self.about, "choices": [*self.choices], "cells": cells})[:16]

    def write(self, path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows, with empty blanks where a row has none of them."""
        columns = self.columns[:-1]
        write_csv(
            path,
            self.columns,
            ([*(row.get(name, "") for name in columns), self.digest(row)] for row in rows),
        )

    def read(
        self,
        path: Path,
        current: Callable[[Row], Mapping[str, Any] | None],
        entry: Callable[[str, Row], E],
        item: Callable[[Row], Sequence[str]] | None = None,
    ) -> list[E]:
        """Return an entry for each item that is decided.

        Tables of earlier versions, without digests, are read by their texts.

        Args:
            path: a table that `write` wrote, with decisions in it.
            current: returns the texts that a row should show; None if there is no such item.
            entry: returns what a row decides, given its place in the file; raises BearsError.
            item: returns what a row is about; default: its ``place``.

        Raises:
            FormatError: the file is not a table, or lacks a column.
            ConfigurationError: listing every row that is wrong, was changed, is of another table,
                or contradicts another row.
        """
        header, rows = read_named(path, short=True)
        needed = [*self.place, *(() if self.bare else self.texts), *self.blanks]
        if missing := [name for name in needed if name not in (*header, *self.optional)]:
            raise FormatError(f"{path} lacks {', '.join(missing)}")
        found: dict[tuple[str, ...], E] = {}
        problems = []
        for number, (_, cells) in enumerate(rows, start=2):
            row = {name: cells.get(name, "") for name in self.columns}
            if not any(row[name].strip() for name in self.decisive):
                continue
            where = f"{path}, row {number}"
            about = tuple(item(row) if item else (row[name] for name in self.place))
            try:
                self._check(where, row, current(row))
                new = entry(where, row)
                if found.setdefault(about, new) != new:
                    raise ConfigurationError(
                        f"{where}: a row above has another decision on {_named(about)}; keep one "
                        "of them"
                    )
            except BearsError as error:
                problems.append(str(error))
        if problems:
            more = f"\n… and {len(problems) - MOST} more" if len(problems) > MOST else ""
            raise ConfigurationError("\n".join(problems[:MOST]) + more)
        return list(found.values())

    def _check(self, where: str, row: Row, current: Mapping[str, Any] | None) -> None:
        """Raise ConfigurationError if a row does not show what it should."""
        if current is None:
            item = _named([row[name] for name in self.place])
            raise ConfigurationError(f"{where}: there is no {item}; write the table again")
        if row[SHOWN] and row[SHOWN] != self.digest(row):
            raise ConfigurationError(
                f"{where}: its names or texts are not those that were written into it, or it is "
                "of another table; write the table again"
            )
        given = [name for name in self.texts if row[name]]
        if self.bare and not given:
            return
        for name, text in current.items():
            if (name in given or not self.bare) and _plain(row[name]) != _plain(text):
                raise ConfigurationError(
                    f"{where}: its {name} is not the one that is there now, which begins "
                    f"{_plain(text)!r:.60}; write the table again"
                )


def _plain(cell: object) -> str:
    return "" if cell is None else " ".join(str(cell).split())


def _named(names: Iterable[str]) -> str:
    return " ".join(filter(None, names))[:120] or "item without a name"
