"""Reading and writing of files: the published JSON form, JSON Lines, and atomic replacement."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

from bears.errors import FormatError
from bears.types import Document, Question

Record = TypeVar("Record", Question, Document)


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` that replaces it when the block ends without error.

    The data is on disk (fsync) before the name changes, so that a file with its final name is
    always a complete one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8 with LF line ends, atomically."""
    with atomic_write(path) as stream:
        stream.write(text.encode("utf-8"))


def to_json(value: Any) -> str:
    """JSON in the form of the published files: two spaces, no escapes, no final newline."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)


def write_json(path: Path, value: Any) -> None:
    """Write small JSON for people and git: the published form plus a final newline."""
    write_text(path, to_json(value) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises:
        FormatError: the file is absent, empty or not JSON.
    """
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise FormatError(f"{path}: no such file") from None
    except ValueError as error:
        raise FormatError(f"{path}: not valid JSON ({error})") from None


def read_bytes(path: Path) -> bytes:
    """The bytes of a file. Raises FormatError when there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FormatError(f"{path}: no such file") from None


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write questions or documents, byte for byte in the form of the published BEARS files."""
    write_text(path, to_json([dataclasses.asdict(record) for record in records]))


def read_questions(path: Path) -> list[Question]:
    """Read a ``queries.json`` of the published form.

    Raises:
        FormatError: naming the record and the field, when one is missing, extra or mistyped.
    """
    questions = []
    for position, row in _rows(path, Question):
        ids = row["gold_doc_ids"]
        if not isinstance(ids, list) or not all(isinstance(i, str) for i in ids):
            raise FormatError(f"{path}, record {position}: gold_doc_ids must be a list of strings")
        questions.append(Question(**{**row, "gold_doc_ids": tuple(ids)}))
    return questions


def read_documents(path: Path) -> list[Document]:
    """Read a ``corpus.json`` of the published form. Raises FormatError as `read_questions`."""
    return [Document(**row) for _, row in _rows(path, Document)]


def _rows(path: Path, record: type[Question] | type[Document]) -> Iterator[tuple[int, Any]]:
    rows = read_json(path)
    if not isinstance(rows, list):
        raise FormatError(f"{path}: expected a JSON array of records, found {type(rows).__name__}")
    names = [field.name for field in dataclasses.fields(record)]
    for position, row in enumerate(rows, start=1):
        problem = _problem(row, names)
        if problem:
            raise FormatError(f"{path}, record {position}: {problem}; expected {', '.join(names)}")
        yield position, row


def _problem(row: Any, names: list[str]) -> str | None:
    if not isinstance(row, dict):
        return f"an object is expected, found {type(row).__name__}"
    if missing := [name for name in names if name not in row]:
        return f"lacks {', '.join(missing)}"
    if extra := [name for name in row if name not in names]:
        return f"has unknown fields {', '.join(extra)}"
    for name, value in row.items():
        expected = bool if name == "is_gold" else list if name == "gold_doc_ids" else str
        if not isinstance(value, expected):
            return f"{name} is {type(value).__name__}, not {expected.__name__}"
    return None


def to_line(row: Mapping[str, Any]) -> str:
    """One line of canonical JSON Lines: sorted keys, no spaces to spare, no escapes.

    U+2028 and U+2029 stay as they are, so files of such lines must be split on LF only.
    """
    return json.dumps(row, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n"


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write JSON Lines atomically and return how many there are."""
    count = 0
    with atomic_write(path) as stream:
        for row in rows:
            stream.write(to_line(row).encode("utf-8"))
            count += 1
    return count


def read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield (line number from 1, value) of a JSON Lines file, splitting on LF only.

    Raises:
        FormatError: naming the line that is not JSON.
    """
    for number, line in numbered_lines(path):
        try:
            yield number, json.loads(line)
        except ValueError as error:
            raise FormatError(f"{path}, line {number}: not valid JSON ({error})") from None


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, line) of a file, splitting on LF only. Raises FormatError if absent."""
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        raise FormatError(f"{path}: no such file") from None
    with stream:
        yield from enumerate(stream, start=1)
