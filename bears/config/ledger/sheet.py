"""What people are asked: items with what is shown, choices with a rubric, and a digest of all that.

A sheet is written as a table or as a page, and comes back as the table, or as what the page saves.
"""

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from bears.config.ledger.page import PACKAGE, page
from bears.config.typed import parse
from bears.errors import BearsError, ConfigurationError, FormatError
from bears.files.page import words_of
from bears.files.records import digest_of, read_json, write_text
from bears.files.spreadsheet import read_named, write_csv
from bears.types import ForbidsExtra

Row = dict[str, str]
E = TypeVar("E")
SHOWN = "shown"
"""The column of the digests."""
WHOLE = "whole"
"""What a row may have for a page alone: the text of which the document's cell is a part."""
OF_PAGE = ("blanks", "decisive", "document", "choices", "needs")
"""What a page has as it is."""
MOST = 20
"""How many problems of a table to list."""


@dataclass(frozen=True)
class SavedPage(ForbidsExtra):
    """What a page saves: rows with the columns of the table."""

    sheet: Literal["bears"]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Sheet:
    """Items that people decide on.

    Args:
        place: the columns that name an item.
        texts: the columns that people read.
        blanks: the columns that they fill in.
        decisive: those of the blanks that make a row a decision.
        about: what the decisions are about, such as the pair of systems. Its items have numbers,
            so that a row without its texts would name nothing.
        choices: what people may write into the decisive blanks.
        beside: columns that help people, such as the name of a file, and decide nothing.
        document: the column of a text to read in, in which a page marks words of the others.
        scale: of a judge that decides the same, for what the choices mean.
        needs: choice to the blank that it needs, and the column that a page copies into it.
        earlier: choices of earlier versions, and of tables from other grades.
    """

    place: Sequence[str]
    texts: Sequence[str]
    blanks: Sequence[str]
    decisive: Sequence[str] = ("decision",)
    about: str = ""
    choices: Sequence[str] = ()
    beside: Sequence[str] = ()
    document: str = ""
    scale: str = ""
    needs: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    earlier: Sequence[str] = ()

    @property
    def columns(self) -> list[str]:
        """Return all columns, in order."""
        return [*self.place, *self.beside, *self.texts, *self.blanks, SHOWN]

    @property
    def wanted(self) -> str:
        """Return what people are to write, and where."""
        return f"{' or '.join(self.choices)} under {' and '.join(f'`{b}`' for b in self.decisive)}"

    @property
    def meanings(self) -> dict[str, Sequence[str]]:
        """Return each choice that has a rubric, to its meaning in English and in Chinese."""
        words, start = words_of(PACKAGE), f"rubric_{self.scale}_" if self.scale else "rubric_"
        return {name: words[start + name] for name in self.choices if start + name in words}

    def digest(self, row: Mapping[str, Any], choices: Sequence[str] = ()) -> str:
        """Return a digest of what a row shows. Spaces do not count: spreadsheets change them."""
        cells = [_plain(row.get(name)) for name in (*self.place, *self.texts)]
        asked = [*(choices or self.choices)]
        return digest_of({"about": self.about, "choices": asked, "cells": cells})[:16]

    def write(
        self,
        path: Path,
        rows: Iterable[Mapping[str, Any]],
        command: Sequence[str] = (),
        options: Sequence[str] = (),
    ) -> str:
        """Write rows as a table, with their rubric beside it, or as a page (.html).

        Args:
            path: of the file.
            rows: with empty blanks where a row has none of them.
            command, options: the words before and after the file, with which decisions come back.

        Returns:
            What people do next.
        """
        columns, as_page = self.columns[:-1], path.suffix.lower() == ".html"
        back = path.with_suffix(".json") if as_page else path
        then = shlex.join(["bears", *command, str(back), *options])
        if as_page:
            about = {name: getattr(self, name) for name in OF_PAGE}
            about |= {"columns": columns, "texts": [*self.beside, *self.texts]}
            about |= {"rubric": self.meanings, "command": then}
            asked = [{name: _text(row.get(name)) for name in (*columns, WHOLE)} for row in rows]
            items = [(self.digest(row), row, row.pop(WHOLE)) for row in asked]
            write_text(path, page(path.stem, items, about))
            return f"open it in a browser, decide, save with the key D, and run `{then}`"
        cells = ([*(row.get(name, "") for name in columns), self.digest(row)] for row in rows)
        write_csv(path, self.columns, cells)
        notes = ""
        if meanings := self.meanings:
            file = path.with_suffix(".rubric.md")
            lines = (f"- `{name}`: {' / '.join(texts)}\n" for name, texts in meanings.items())
            write_text(file, "".join(lines))
            notes = f" ({file} says what they mean)"
        return f"write {self.wanted}{notes}, and run `{then}`"

    def check_taken(self, path: Path, taken: Collection[str]) -> None:
        """Raise FormatError if a table that would be replaced has more than decisions on these."""
        # A page has no decisions in it.
        if path.is_file() and path.suffix.lower() != ".html":
            for where, row in self._rows(path):
                if any(row[name] for name in self.blanks) and row[self.place[0]] not in taken:
                    raise FormatError(
                        f"{where}: its decisions are not imported; import them first, or name "
                        "another file"
                    )

    def read(
        self,
        path: Path,
        current: Callable[[Row], Mapping[str, Any] | None],
        entry: Callable[[str, Row], E],
        item: Callable[[Row], Sequence[str]] | None = None,
        author: str = "",
    ) -> list[E]:
        """Return an entry for each item that is decided.

        Tables of earlier versions, without digests, are read by their texts.

        Args:
            path: a table that `write` wrote, with decisions in it, or what its page saved.
            current: returns the texts that a row should show; None if there is no such item.
            entry: returns what a row decides, given its place in the file; raises BearsError.
            item: returns what a row is about; default: its ``place``.
            author: of rows without one.

        Raises:
            FormatError: the file is neither, lacks a column, or has no decision.
            ConfigurationError: listing every row that is wrong, was changed, is of another table,
                or contradicts another row.
        """
        found: dict[tuple[str, ...], E] = {}
        problems = []
        for where, row in self._rows(path):
            if not any(row[name].strip() for name in self.decisive):
                continue
            about = tuple(item(row) if item else (row[name] for name in self.place))
            row["author"] = row.get("author") or author
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
        if not found:
            raise FormatError(f"{path}: no row has a decision; write {self.wanted}")
        return list(found.values())

    def _rows(self, path: Path) -> Iterator[tuple[str, Row]]:
        """Yield where each row is, and its cells."""
        needed = [*(self.texts if self.about else ()), *self.decisive]
        if path.suffix.lower() == ".html":
            raise FormatError(
                f"{path} is the page, which has no decisions in it; open it, save them with the "
                f"key D, and name the file that it saves, such as {path.with_suffix('.json').name}"
            )
        if path.suffix.lower() == ".json":
            try:
                saved = parse(SavedPage, read_json(path), str(path)).rows
            except BearsError as error:
                raise FormatError(
                    f"{path} is not what a page saves ({error}); open the page, and save with the "
                    "key D"
                ) from None
            header, first, rows = {*(saved[0] if saved else needed)}, 1, iter(saved)
        else:
            names, table = read_named(path, short=True)
            header, first = {*names}, 2
            rows = (cells for _, cells in table)
        if missing := [name for name in needed if name not in header]:
            raise FormatError(f"{path} lacks {', '.join(missing)}")
        for number, cells in enumerate(rows, start=first):
            yield f"{path}, row {number}", {name: cells.get(name, "") for name in self.columns}

    def _check(self, where: str, row: Row, current: Mapping[str, Any] | None) -> None:
        """Put the choices that people mean into a row that shows what it should.

        Raises:
            ConfigurationError: it shows something else, or has something that is not a choice.
        """
        if current is None:
            item = _named([row[name] for name in self.place])
            raise ConfigurationError(f"{where}: there is no {item}; write the table again")
        known = [each for each in (self.earlier, self.choices) if each]
        asked = [each for each in known if row[SHOWN] in ("", self.digest(row, each))]
        if not asked:
            raise ConfigurationError(
                f"{where}: its names or texts are not those that were written into it, or it is "
                "of another table; write the table again"
            )
        for name in self.decisive:
            row[name] = self._meant(where, name, row[name], asked[0])
        for name in self.texts:
            text = current.get(name, row[name])
            if (row[name] or self.about) and _plain(row[name]) != _plain(text):
                raise ConfigurationError(
                    f"{where}: its {name} is not the one that is there now, which begins "
                    f"{_plain(text)!r:.60}; write the table again"
                )

    def _meant(self, where: str, name: str, cell: str, choices: Sequence[str]) -> str:
        """Return the choice that a person wrote, in any case and in a language of the page."""
        for choice in choices:
            words = choice, choice.replace("_", " "), *words_of(PACKAGE).get(f"choice_{choice}", ())
            if _plain(cell).casefold() in map(str.casefold, words):
                return choice
        raise ConfigurationError(
            f"{where}: {name} is {cell!r:.40}; expected one of {', '.join(choices)}"
        )


def _text(cell: object) -> str:
    return "" if cell is None else str(cell)


def _plain(cell: object) -> str:
    return " ".join(_text(cell).split())


def _named(names: Iterable[str]) -> str:
    return " ".join(filter(None, names))[:120] or "item without a name"
