"""The rows of a parquet, JSON or JSON Lines file, one at a time, and their fields by our words.

Peak memory is set by the largest rows (parquet: by a batch of 256), never by the file. JSON and
JSON Lines are also read from ``.gz``.

A reader knows one word for each field. The names that published sets use for it are tried in their
order, and ``fields`` of a source adds any other, so that a new set needs no code. A name with dots
is a path (``answers.text``), unless the row has a field of that very name. Names hold at every
depth of a row.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from math import isnan
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, ValidationError

from bears.errors import ConfigurationError, FormatError, MalformedRow, SourceError
from bears.files.intake.files import begin, items, json_value, lines, members, numbered_lines
from bears.files.intake.tables import csv_rows, parquet_rows
from bears.files.records import adapter_of, reason_of
from bears.files.visible import blank

Words = Mapping[str, tuple[str, ...]]
"""Our word for a field to the other names that it goes by."""
Id = Annotated[str, BeforeValidator(lambda id_: str(id_) if type(id_) is int else id_)]
"""Ids are texts; people who write such files by hand also write numbers."""
_MISSING = object()
Row = dict[str, Any]
Numbered = tuple[str, int, Row]
"""A row with the name of its file and its position there, counted from 1."""
SUFFIXES = (".parquet", ".jsonl", ".json", ".csv", ".tsv", ".jsonl.gz", ".json.gz", ".csv.gz")
REMEDY = "if the file is truncated or damaged, take it again from its source"
LISTS = ("data", "examples", "goldens")
"""The names of a list of rows in an object: of SQuAD, LlamaIndex and DeepEval."""
EMBEDDING_PAIRS = {"queries", "corpus", "relevant_docs"}
"""LlamaIndex' EmbeddingQAFinetuneDataset: objects of texts by their ids, and lists of ids."""
# ['a' 'b'] and array(['a']): what pandas makes of numpy's lists, which cannot be read back.
PRINTED = re.compile(r"""\{'.*\}|\[\{?['"].*\]|\[?array\(.*""", re.S)


class RenamedRow(dict[str, Any]):
    """A row with our words after the names that it has itself, the first ``own`` ones."""

    own = 0


class Naming:
    """Translates the names of a source's fields into the words of a shape.

    Args:
        words: the words of the shape.
        fields: our words to the names that this source uses, which go before all others.
        source: the name of the source, for messages.
        met: collects those words of ``fields`` that some row had.

    Raises:
        ConfigurationError: ``fields`` has a word that the shape does not know.
    """

    def __init__(self, words: Words, fields: Mapping[str, str], source: str, met: set[str]) -> None:
        if unknown := sorted(set(fields) - set(words)):
            raise ConfigurationError(
                f"sources.{source}.fields: no field is called {', '.join(unknown)}; this shape "
                f"has {', '.join(words) or 'no field that can be renamed'}"
            )
        self._fields, self._met = fields, met
        self._names = {
            word: (fields[word], word) if word in fields else (word, *names)
            for word, names in words.items()
        }
        others = [n for word, names in self._names.items() for n in names if n != word]
        # The first part of a path, or the whole of it.
        self._renamed = {*others, *(name.partition(".")[0] for name in others), *fields.values()}

    def renamed(self, value: Any) -> Any:
        """Return a row with our words beside its own."""
        if isinstance(value, list):
            # Texts hold no names, and a row may have thousands.
            deep = any(isinstance(item, list | dict) for item in value[:1])
            return [self.renamed(item) for item in value] if deep else value
        if not isinstance(value, dict):
            return value
        row = RenamedRow(
            (key, self.renamed(inner) if isinstance(inner, list | dict) else inner)
            for key, inner in value.items()
        )
        row.own = len(row)
        if self._renamed.isdisjoint(value):
            return row
        for word, names in self._names.items():
            for name in names:
                if (inner := _at(value, name)) is not _MISSING:
                    if self._fields.get(word) == name:
                        self._met.add(word)
                    if name != word:
                        row[word] = self.renamed(inner)
                    break
        return row


def _at(value: Any, name: str) -> Any:
    if not isinstance(value, dict):
        return _MISSING
    if name in value:
        return value[name]
    first, dot, rest = name.partition(".")
    return _at(value[first], rest) if dot and first in value else _MISSING


def read_rows(path: Path) -> Iterator[Any]:
    """Yield the rows of a file. Bare NaN, which Python writes for an empty cell, becomes None.

    A file can be parquet; CSV with a header, whose cells may hold lists and objects as JSON or
    Python writes them; JSON Lines; a JSON array of rows; an object with such an array (`LISTS`); or
    `EMBEDDING_PAIRS`.

    Raises:
        SourceError: the file is empty, truncated, too large, or has no known form.
        MalformedRow: a cell of a table holds a list as numpy prints it.
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
        names = members(path)
        if key := next((key for key in LISTS if names.get(key)), ""):
            return items(path, key, nan="none")
        if names.keys() >= EMBEDDING_PAIRS:
            return _embedding_pairs(json_value(path))
        _, line = next(numbered_lines(path))
        if b"}" not in line:
            raise FormatError(
                f"{path}: it is one object, of {', '.join(names)}; expected a list of rows, alone "
                f"or as its member {' or '.join(LISTS)}"
            )
    return (row for _, row in lines(path, nan="none", blank=True))


def _embedding_pairs(given: Any) -> Iterator[Row]:
    """Yield a row for each query; the first has the documents that answer none, as negatives."""
    try:
        corpus, relevant = dict(given["corpus"]), dict(given["relevant_docs"])
        gold = {name: [corpus[doc_id] for doc_id in ids] for name, ids in relevant.items()}
        used = {doc_id for ids in relevant.values() for doc_id in ids}
        rest = [text for doc_id, text in corpus.items() if doc_id not in used]
        for name, query in given["queries"].items():
            yield {"id": name, "question": query, "positive": gold.get(name), "negatives": rest}
            rest = []
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"queries, corpus and relevant_docs don't fit ({error!r:.80})") from None


def _cells(path: Path) -> Iterator[Row]:
    rows = csv_rows(path)
    _, header = next(rows, (0, []))
    for number, (_, cells) in enumerate(rows, start=1):
        named = {name: cell_value(cell) for name, cell in zip(header, cells, strict=True)}
        for name, cell in named.items():
            if isinstance(cell, str) and PRINTED.fullmatch(cell):
                problem = f"{cell!r:.60} is what numpy prints; write lists and objects as JSON"
                raise MalformedRow(path.name, number, name, problem)
        yield named


def cell_value(text: str) -> Any:
    """Return the value of a cell: a list or an object as JSON or Python writes it, or a text."""
    if text[:1] in "[{":
        with suppress(FormatError):
            return json_value(text.encode(), "cell")
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            value = ast.literal_eval(text)
            # Python joins ['a' 'b'], numpy's list of two.
            if repr(value) == text:
                return value
    return text


class BadField(Exception):
    """A field of a row cannot be used; `bears.sources.parts.Parts.each` names file and row.

    Args:
        field: dotted path of the field within the row.
        problem: what is wrong with it.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"field {field}: {problem}")
        self.field, self.problem = field, problem


def check_row(kind: Any, row: Any) -> Any:
    """Return a row, validated as one of a kind: a TypedDict.

    Raises:
        BadField: for the first field that does not fit.
    """
    try:
        return adapter_of(kind).validate_python(row)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        problem = reason_of(first)
        if first["type"] == "missing":
            own = getattr(first["input"], "own", None)
            problem += f"; there: {', '.join(islice(first['input'], own)):.200}"
        raise BadField(".".join(map(str, first["loc"])) or "(row)", problem) from None


def as_rows(value: Any) -> Any:
    """Return a list of objects for an object of lists, as the hub has it, and else the value.

    Raises:
        ValueError: a value of the object is not a list, or the lists differ in length.
    """
    if not isinstance(value, Mapping):
        return value
    lists = adapter_of(dict[str, list[Any]]).validate_python(value)
    lengths = {name: len(cells) for name, cells in lists.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"its lists differ in length: {lengths}")
    return [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]


def as_texts(value: Any) -> Any:
    """Return a list of texts, for which sets have one text, objects with a ``text``, or nothing.

    A list of lists has the wordings of each answer.

    A number counts as text.

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
    flat = (each for part in value for each in (part if isinstance(part, list) else [part]))
    texts = (each.get("text", each) if isinstance(each, Mapping) else each for each in flat)
    return [text for text in map(as_text, texts) if text is not None]


def as_text(value: Any) -> Any:
    """Return a number or a truth as text, and None for NaN, which tables have for an empty cell.

    A whole number has no point, though JSON or a table may give it one.
    """
    if isinstance(value, float) and isnan(value):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if type(value) in (int, float) else value


T = TypeVar("T")
Rows = Annotated[list[T], BeforeValidator(as_rows)]
"""Objects within a row, in either form."""
Text = Annotated[str, BeforeValidator(as_text)]
"""A text within a row that may be given as a number, such as an answer."""
Texts = Annotated[list[str], BeforeValidator(as_texts)]
"""Texts within a row, such as answers, in any form."""


def not_blank(text: str, field: str) -> str:
    """Return the text of a field. Raises BadField if a person sees nothing of it."""
    if blank(text):
        raise BadField(field, "is empty")
    return text


class Ids:
    """The ids of one kind of record of a source. Each has to be unique and not empty."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __contains__(self, identifier: str) -> bool:
        return identifier in self._known

    def new(self, identifier: str, field: str) -> str:
        """Return ``identifier`` and remember it. Raises BadField if it is empty or known."""
        not_blank(identifier, field)
        if identifier in self._known:
            raise BadField(field, f"{identifier!r:.80} is in an earlier row too")
        self._known.add(identifier)
        return identifier
