"""Random access to the rows of a JSON Lines file without holding them in memory."""

from __future__ import annotations

import dataclasses
import json
import weakref
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar, overload

from pydantic import Field, TypeAdapter, ValidationError

from bears.errors import FormatError
from bears.types import (
    Article,
    Document,
    Judgement,
    PassageRow,
    PoolDocument,
    PoolQuestion,
    Question,
)

Row = TypeVar("Row")
PoolRow = PoolDocument | PoolQuestion | Judgement | Document | Question
"""A row of a source that is a benchmark already. A file mixes them; no two kinds have the same
mandatory fields, so a line tells its kind."""
_POOL_ROW: TypeAdapter[PoolRow] = TypeAdapter(Annotated[PoolRow, Field(union_mode="left_to_right")])


class RowFile(Sequence[Row], Generic[Row]):
    """The rows of a JSON Lines file as a read-only sequence of dataclasses.

    Memory is eight bytes a row: the offsets. Rows are parsed when they are asked for.

    Args:
        path: the file; lines end with LF only.
        adapter: what makes a row of a line.
    """

    def __init__(self, path: Path, adapter: TypeAdapter[Row]) -> None:
        self._path = path
        self._adapter = adapter
        self._offsets = array("Q")
        self._stream: Any = None

    def _open(self) -> Any:
        if self._stream is None:
            try:
                self._stream = self._path.open("rb")
            except FileNotFoundError:
                raise FormatError(f"{self._path}: no such file") from None
            weakref.finalize(self, self._stream.close)
            offset = 0
            for line in self._stream:
                self._offsets.append(offset)
                offset += len(line)
        return self._stream

    def __len__(self) -> int:
        self._open()
        return len(self._offsets)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        stream = self._open()
        stream.seek(self._offsets[index])
        return self._parse(stream.readline(), index)

    def __iter__(self) -> Iterator[Row]:
        with self._path.open("rb") as stream:
            for index, line in enumerate(stream):
                yield self._parse(line, index)

    def _parse(self, line: bytes, index: int) -> Row:
        try:
            return self._adapter.validate_json(line)
        except ValidationError as error:
            raise FormatError(f"{self._path}, line {index + 1}: {error}") from None


def row_to_line(row: Any) -> bytes:
    """One row as a line that `RowFile` reads back."""
    text = json.dumps(dataclasses.asdict(row), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8") + b"\n"


def open_rows(path: Path) -> RowFile[Article] | RowFile[PassageRow] | RowFile[PoolRow]:
    """The rows that the download stage wrote: articles, rows with their own passages, or mixed
    rows of a benchmark."""
    with path.open("rb") as stream:
        keys = json.loads(stream.readline() or b"{}")
    if "paragraphs" in keys:
        return RowFile(path, TypeAdapter(Article))
    if "passages" in keys:
        return RowFile(path, TypeAdapter(PassageRow))
    return RowFile(path, _POOL_ROW)
