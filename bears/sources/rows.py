"""The rows of a parquet, JSON or JSON Lines file, one at a time.

Peak memory is set by the largest rows (parquet: by a batch of 256), never by the file. JSON and
JSON Lines are also read from ``.gz``.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import zip_longest
from math import isnan
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from bears.errors import FormatError, MalformedRow, SourceError
from bears.files.intake.json_stream import begin, items, members, pairs
from bears.files.intake.json_text import json_value, lines
from bears.files.intake.parquet_rows import parquet_rows
from bears.files.intake.table_text import csv_rows
from bears.files.intake.texts import blank
from bears.files.records import reason_of

Row = dict[str, Any]
Numbered = tuple[str, int, Row]
"""A row with the name of its file and its position there, counted from 1."""
SUFFIXES = (".parquet", ".jsonl", ".json", ".csv", ".tsv", ".jsonl.gz", ".json.gz", ".csv.gz")
REMEDY = "if the file is truncated or damaged, take it again from its source"
# {'text': ['a']} and ['a' 'b']: what pandas and str() make of a list or an object.
PRINTED = re.compile(r"""\{'.*\}|\[\{?['"].*\]|\[?array\(.*""", re.S)
COLUMNS = ("query_id", "query", "query_type", "answers", "passages")


def read_rows(path: Path) -> Iterator[Any]:
    """Yield the rows of ``path``; bare NaN, which Python writes for an empty cell, is None.

    Understood are parquet; CSV with a header, whose cells may hold JSON's lists and objects; JSON
    Lines; a JSON array of rows; an object whose ``data`` is such an array (DRCD, SQuAD); and an
    object of columns, each a map from row number to value (MS MARCO's official file).

    Raises:
        SourceError: the file is empty, truncated, of no known form, or refused at the door.
        MalformedRow: a cell of a table is as Python prints it.
    """
    number = 0
    try:
        for row in _rows(path):
            yield row
            number += 1
    except FormatError as error:
        raise SourceError(f"{error}. No row after {number} can be read; {REMEDY}") from None


def _rows(path: Path) -> Iterator[Any]:
    if path.suffix == ".parquet":
        return parquet_rows(path)
    if path.name.removesuffix(".gz").endswith((".csv", ".tsv")):
        return _cells(path)
    first = begin(path)
    if first == b"[":
        return items(path, nan="none")
    if first == b"{" and path.name.removesuffix(".gz").endswith(".json"):
        begins = members(path)
        if begins.get("data") == "start_array":
            return items(path, "data", nan="none")
        if any(begins.get(name, "").isdigit() for name in COLUMNS):
            return _columns(path)
    return (row for _, row in lines(path, nan="none", blank=True))


def _cells(path: Path) -> Iterator[Row]:
    rows = csv_rows(path)
    _, header = next(rows, (0, []))
    for number, (_, cells) in enumerate(rows, start=1):
        named = {name: _cell(cell) for name, cell in zip(header, cells, strict=True)}
        for name, cell in named.items():
            if isinstance(cell, str) and PRINTED.fullmatch(cell):
                problem = f"{cell!r:.60} is as Python prints it; write lists and objects as JSON"
                raise MalformedRow(path.name, number, name, problem)
        yield named


def _cell(text: str) -> Any:
    """A cell; tables have their lists and objects as JSON."""
    if text[:1] in "[{":
        with suppress(FormatError):
            return json_value(text.encode(), "cell")
    return text


def read_whole(path: Path) -> Any:
    """The value of a JSON file; bare NaN is None. Raises SourceError where it is none."""
    try:
        return json_value(path, nan="none")
    except FormatError as error:
        raise SourceError(f"{error}; {REMEDY}") from None


def _columns(path: Path) -> Iterator[Any]:
    columns = [pairs(path, name) for name in COLUMNS]
    for number, cells in enumerate(zip_longest(*columns), start=1):
        if None in cells:
            problem = "this column is absent or shorter than the others"
            raise MalformedRow(path.name, number, COLUMNS[cells.index(None)], problem)
        if len({key for key, _ in cells}) != 1:
            raise SourceError(f"{path}: columns hold different row keys: {dict(cells)}")
        yield dict(zip(COLUMNS, (value for _, value in cells), strict=True))


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
        raise MalformedRow(file, number, field, reason_of(first)) from None


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


def as_texts(value: Any) -> Any:
    """A list of texts, for which sets have one text, objects with a ``text``, or nothing at all.

    A number is taken as text.

    Raises:
        ValueError: as `as_rows`.
    """
    if isinstance(value, Mapping):
        value = as_rows(value) if isinstance(value.get("text"), list) else [value]
    value = as_text(value)
    if isinstance(value, str) or value is None:
        value = [value] if value else []
    if not isinstance(value, list):
        return value
    texts = (each.get("text", each) if isinstance(each, Mapping) else each for each in value)
    return [text for text in map(as_text, texts) if text is not None]


def as_text(value: Any) -> Any:
    """A number as text, and NaN, which tables of numbers have for an empty cell, as None."""
    if isinstance(value, float) and isnan(value):
        return None
    return str(value) if type(value) in (int, float) else value


_LISTS = TypeAdapter(dict[str, list[Any]])
T = TypeVar("T")
Rows = Annotated[list[T], BeforeValidator(as_rows)]
"""Of a row's shape: objects within it, in either form."""
Text = Annotated[str, BeforeValidator(as_text)]
"""Of a row's shape: a text for which a number may stand, such as an answer."""
Texts = Annotated[list[str], BeforeValidator(as_texts)]
"""Of a row's shape: texts within it, such as answers, in any form."""


def not_blank(text: str, file: str, number: int, field: str) -> str:
    """The text. Raises MalformedRow where a person sees nothing of it."""
    if blank(text):
        raise MalformedRow(file, number, field, "is empty")
    return text


class Ids:
    """The ids of one kind of record of a source, of which none may be empty or stand twice."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __contains__(self, identifier: str) -> bool:
        return identifier in self._known

    def new(self, identifier: str, file: str, number: int, field: str) -> str:
        """``identifier``, which is known from now on. Raises MalformedRow where it cannot be."""
        not_blank(identifier, file, number, field)
        if identifier in self._known:
            problem = f"{identifier!r:.80} stands in an earlier row too"
            raise MalformedRow(file, number, field, problem)
        self._known.add(identifier)
        return identifier
