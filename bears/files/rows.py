"""Random access to the rows of a JSON Lines file without holding them in memory."""

import dataclasses
import json
from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from bears.errors import FormatError
from bears.files.intake.files import numbered_lines, opened
from bears.files.intake.json_text import json_value
from bears.files.records import problems_of
from bears.types import (
    Article,
    Document,
    Judgement,
    PassageRow,
    PoolDocument,
    PoolQuestion,
    Question,
)

PoolRow = PoolDocument | PoolQuestion | Judgement | Document | Question
"""A row of a source that is a benchmark already. A file mixes them; no two kinds have the same
mandatory fields, so a line tells its kind."""
_POOL_ROW: TypeAdapter[PoolRow] = TypeAdapter(Annotated[PoolRow, Field(union_mode="left_to_right")])


class RowFile(Sequence[Any]):
    """The rows of a JSON Lines file as a read-only sequence of dataclasses.

    Memory is eight bytes a row, and that only when one is asked for by its position: where the
    lines begin. Rows are parsed when they are asked for.

    Args:
        path: the file; lines end with LF only.
        adapter: what makes a row of a line.
    """

    def __init__(self, path: Path, adapter: TypeAdapter[Any]) -> None:
        self._path, self._adapter = path, adapter

    @cached_property
    def _offsets(self) -> "array[int]":
        with opened(self._path) as stream:
            offsets = array("Q", accumulate(map(len, stream), initial=0))
        offsets.pop()
        return offsets

    def __len__(self) -> int:
        return len(self._offsets)

    def __getitem__(self, index: Any) -> Any:
        with opened(self._path) as stream:
            stream.seek(self._offsets[index])
            return self._parse(stream.readline(), index + 1)

    def __iter__(self) -> Iterator[Any]:
        return (self._parse(line, number) for number, line in numbered_lines(self._path))

    def _parse(self, line: bytes, number: int) -> Any:
        try:
            return self._adapter.validate_json(line)
        except ValidationError as error:
            raise FormatError(f"{self._path}, line {number}: {problems_of(error)}") from None


def row_to_line(row: Any) -> bytes:
    """One row as a line that `RowFile` reads back."""
    text = json.dumps(dataclasses.asdict(row), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8") + b"\n"


def open_rows(path: Path) -> RowFile:
    """The rows that the download stage wrote: articles, rows with their own passages, or mixed
    rows of a benchmark."""
    with opened(path) as stream:
        keys = json_value(stream.readline() or b"{}", f"{path}, line 1")
    if not isinstance(keys, dict):
        raise FormatError(f"{path}, line 1: expected an object, found {keys!r:.80}")
    if "paragraphs" in keys:
        return RowFile(path, TypeAdapter(Article))
    if "passages" in keys:
        return RowFile(path, TypeAdapter(PassageRow))
    return RowFile(path, _POOL_ROW)
