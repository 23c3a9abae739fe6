"""Streaming readers: the rows of a parquet, JSON or JSON Lines file, one at a time.

Peak memory is set by the largest rows (parquet: by a batch of 256), never by the file. JSON and
JSON Lines are also read from ``.gz``.
"""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import IO, Annotated, Any, TypeVar

import ijson
from pydantic import BeforeValidator, TypeAdapter, ValidationError
from pydantic_core import from_json

from bears.errors import MalformedRow, SourceError

Row = dict[str, Any]
Numbered = tuple[str, int, Row]
"""A row with the name of its file and its position there, counted from 1."""
SUFFIXES = (".parquet", ".jsonl", ".json")
COLUMNS = ("query_id", "query", "query_type", "answers", "passages")


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of ``path``.

    Understood are parquet; JSON Lines; a JSON array of rows; an object whose ``data`` is such
    an array (DRCD, SQuAD); and an object of columns, each a map from row number to value
    (MS MARCO's official file).

    Raises:
        SourceError: the file is empty, truncated or of no known form.
        MalformedRow: a row is not an object.
    """
    if not path.stat().st_size:
        raise SourceError(f"{path} is empty; take it again from its source")
    rows = _parquet(path) if path.suffix == ".parquet" else _json(path)
    number = 0
    try:
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, dict):
                raise MalformedRow(path.name, number, "(row)", f"not an object but {row!r:.40}")
            yield row
    except (ijson.JSONError, ValueError, OSError, EOFError, zlib.error) as error:
        raise SourceError(
            f"{path}: cannot be read after row {number} ({_reason(error)}); "
            "it is truncated or damaged: take it again from its source"
        ) from None


def _reason(error: Exception) -> str:
    """The first line: ijson goes on to draw where it stood, and gives bytes now and then."""
    given = error.args[0] if error.args else type(error).__name__
    text = given.decode("utf-8", "replace") if isinstance(given, bytes) else str(error)
    return text.split("\n")[0]


def _parquet(path: Path) -> Iterator[Any]:
    from pyarrow import parquet

    # With the defaults pyarrow ends up holding the whole file: it prefetches every column chunk.
    with parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
        for batch in file.iter_batches(batch_size=256):
            yield from batch.to_pylist()


def opened(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked where its name ends in ``.gz``."""
    # gzip.open gives an IO of bytes, but its stub knows that of no mode.
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def read_whole(path: Path) -> Any:
    """The value of a JSON file; bare NaN is None. Raises SourceError where it is none."""
    try:
        with opened(path) as stream:
            return json.loads(stream.read(), parse_constant=lambda _: None)
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise SourceError(
            f"{path}: not valid JSON ({error}); it is truncated or damaged: take it again from "
            "its source"
        ) from None


def _json(path: Path) -> Iterator[Any]:
    with opened(path) as stream:
        events = ijson.parse(stream)
        first = next(events)[1]
        if first == "start_array":
            prefix = "item"
        elif path.name.removesuffix(".gz").endswith(".json") and (
            key := _top_level_container(events)
        ):
            prefix = "data.item" if key == "data" else ""
        else:
            prefix = "lines"
    if prefix == "lines":
        yield from _json_lines(path)
    elif prefix:
        with opened(path) as stream:
            yield from ijson.items(stream, prefix, use_float=True)
    else:
        yield from _columns(path)


def _top_level_container(events: Iterator[tuple[str, str, Any]]) -> str | None:
    """Which whole-file object this is: "data" (rows under data), "columns", or None (a row)."""
    for prefix, event, value in events:
        if prefix == "data" and event == "start_array":
            return "data"
        if prefix in COLUMNS and event == "map_key" and value.isdigit():
            return "columns"
        if prefix == "" and event == "end_map":
            return None
    return None


def _json_lines(path: Path) -> Iterator[Any]:
    with opened(path) as stream:
        for number, line in enumerate(stream, start=1):
            if line.isspace():
                continue
            try:
                # Stricter than json.loads, as ijson is: no NaN, no half of a surrogate pair.
                yield from_json(line, allow_inf_nan=False)
            except ValueError as error:
                raise SourceError(
                    f"{path}, line {number}: not valid JSON ({error}); "
                    "the file is truncated or damaged: take it again from its source"
                ) from None


def _columns(path: Path) -> Iterator[Any]:
    streams = [opened(path) for _ in COLUMNS]
    try:
        columns = [
            ijson.kvitems(stream, name, use_float=True)
            for stream, name in zip(streams, COLUMNS, strict=True)
        ]
        for number, cells in enumerate(zip_longest(*columns), start=1):
            if None in cells:
                problem = "this column is absent or shorter than the others"
                raise MalformedRow(path.name, number, COLUMNS[cells.index(None)], problem)
            if len({key for key, _ in cells}) != 1:
                raise SourceError(f"{path}: columns hold different row keys: {dict(cells)}")
            yield dict(zip(COLUMNS, (value for _, value in cells), strict=True))
    finally:
        for stream in streams:
            stream.close()


def check_row(shape: TypeAdapter[Any], row: Any, file: str, number: int) -> Any:
    """Validate one row against ``shape``.

    Raises:
        MalformedRow: naming file, row and the first field that does not fit.
    """
    try:
        return shape.validate_python(row)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "(row)"
        raise MalformedRow(file, number, field, first["msg"]) from None


def as_rows(value: Any) -> Any:
    """A list of objects, for which the hub has an object of lists; anything else as it is.

    Raises:
        ValueError: a value of the object is no list, or they differ in length.
    """
    if not isinstance(value, Mapping):
        return value
    lists = _LISTS.validate_python(value)
    lengths = {name: len(cells) for name, cells in lists.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"its lists differ in length: {lengths}")
    return [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]


_LISTS = TypeAdapter(dict[str, list[Any]])
T = TypeVar("T")
Rows = Annotated[list[T], BeforeValidator(as_rows)]
"""Of a row's shape: objects within it, in either form."""


class Ids:
    """The ids of one kind of record of a source, of which none may be empty or stand twice."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __contains__(self, identifier: str) -> bool:
        return identifier in self._known

    def new(self, identifier: str, file: str, number: int, field: str) -> str:
        """``identifier``, which is known from now on. Raises MalformedRow where it cannot be."""
        if not identifier.strip():
            raise MalformedRow(file, number, field, "is empty")
        if identifier in self._known:
            problem = f"{identifier!r:.80} stands in an earlier row too"
            raise MalformedRow(file, number, field, problem)
        self._known.add(identifier)
        return identifier
