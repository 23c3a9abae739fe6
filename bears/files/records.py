"""Read and write files: the published JSON form, JSON Lines, atomic replacement, and digests."""

import dataclasses
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from errno import EDQUOT, EFBIG, ENOSPC
from functools import cache
from pathlib import Path
from typing import IO, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from bears.errors import FormatError
from bears.files.intake.files import items, json_value, lines, opened
from bears.types import Document, Question

Record = TypeVar("Record", Question, Document)
T = TypeVar("T")
_ENCODER = json.JSONEncoder(ensure_ascii=False, indent=2, allow_nan=False)

read_json, read_lines = json_value, lines
adapter_of: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
"""Pydantic's parser for a type, built once: building it takes milliseconds."""


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` that replaces it when the block ends without error.

    The data is on disk (fsync) before the name changes, so that a file under its final name is
    always complete.

    Raises:
        FormatError: ``path`` is a device, a pipe or a socket, which a file must not replace.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise FormatError(f"{path} is a device or a pipe; name a file to write to")
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT, EFBIG):
            error.filename = str(path)  # The system does not say which file has no room.
        raise


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8 with LF line ends, atomically."""
    with atomic_write(path) as stream:
        stream.write(text.encode("utf-8"))


def to_json(value: Any) -> str:
    """Return JSON in the form of the published files: two spaces, no escapes, no final newline."""
    return _ENCODER.encode(value)


def write_json(path: Path, value: Any) -> None:
    """Write small JSON for people and git: the published form plus a final newline."""
    write_text(path, to_json(value) + "\n")


def read_folder(folder: Path, raw: bool = False) -> tuple[list[Question], list[Document]]:
    """Read the questions and the documents of a folder; ``raw``: those before translation."""
    ending = "_raw.json" if raw else ".json"
    return read_questions(folder / f"queries{ending}"), read_documents(folder / f"corpus{ending}")


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write questions or documents, byte for byte in the form of the published BEARS files.

    Fields beyond the published ones are only written if they differ from their defaults.
    """
    with atomic_write(path) as stream:
        separator = "[\n"
        for record in records:
            stream.write(f"{separator}  ".encode())
            # In pieces: a long text would be copied four times as one.
            for piece in _ENCODER.iterencode(_plain(record)):
                stream.write(piece.replace("\n", "\n  ").encode())
            separator = ",\n"
        stream.write(b"[]" if separator == "[\n" else b"\n]")


def _plain(record: Record) -> dict[str, Any]:
    values = dataclasses.asdict(record)
    return {
        field.name: values[field.name]
        for field in dataclasses.fields(record)
        if field.default is dataclasses.MISSING or values[field.name] != field.default
    }


def read_questions(path: Path) -> list[Question]:
    """Read a ``queries.json`` of the published form.

    Raises:
        FormatError: naming the record and the field, when one is missing, unknown or mistyped.
    """
    return list(_records(path, Question))


def read_documents(path: Path) -> list[Document]:
    """Read a ``corpus.json`` of the published form. Raises FormatError as `read_questions` does."""
    return list(_records(path, Document))


def stream_documents(path: Path) -> Iterator[Document]:
    """Yield `read_documents` one at a time: a corpus may be larger than memory."""
    return _records(path, Document)


def document_count(path: Path) -> int:
    """Count the documents of a file without parsing it, at about a GB per second.

    Quotation marks in JSON texts have a backslash before them, so the key with its own marks only
    occurs once per document; and it has no line break.
    """
    with opened(path) as stream:
        return sum(line.count(b'"doc_id":') for line in stream)


def _records(path: Path, record: type[Record]) -> Iterator[Record]:
    adapter = TypeAdapter(record)
    names = ", ".join(field.name for field in dataclasses.fields(record))
    for position, row in enumerate(items(path), start=1):
        try:
            # Strict, since a number is not a text; from JSON, which has lists for tuples.
            yield adapter.validate_json(json.dumps(row, ensure_ascii=False), strict=True)
        except ValidationError as error:
            problem = f"{problems_of(error)}; the fields are {names}"
            raise FormatError(f"{path}, record {position}: {problem}") from None


def reason_of(problem: Mapping[str, Any]) -> str:
    """Return Pydantic's message for one value, without its prefix for our own errors."""
    return str(problem["msg"]).removeprefix("Value error, ")


def problems_of(error: ValidationError, where: str = "") -> str:
    """Return the place, the reason and the value of each problem in the values at ``where``."""
    problems = []
    for item in error.errors(include_url=False):
        place = ".".join(filter(None, [where, *map(str, item["loc"])])) or "record"
        # The input of a missing field is the object around it.
        found = "" if item["type"] == "missing" else f", found {item['input']!r:.80}"
        problems.append(f"{place}: {reason_of(item)}{found}")
    return "; ".join(problems)


def json_as(kind: type[T], content: str | bytes, where: str) -> T:
    """Return JSON as a value of ``kind``, strictly: a word is not a truth value, for example.

    Raises:
        FormatError: it does not fit; the message begins with ``where``.
    """
    try:
        value: T = adapter_of(kind).validate_json(content, strict=True)
    except ValidationError as error:
        raise FormatError(f"{where}: {problems_of(error)}") from None
    return value


def value_as(kind: type[T], value: Any, where: str) -> T:
    """Return plain values as a value of ``kind``.

    Raises:
        FormatError: they do not fit; the message begins with ``where``.
    """
    try:
        fitting: T = adapter_of(kind).validate_python(value)
    except ValidationError as error:
        raise FormatError(f"{where}: {problems_of(error)}") from None
    return fitting


def to_line(row: Mapping[str, Any]) -> str:
    """Return one line of canonical JSON Lines: sorted keys, no escapes.

    U+2028 and U+2029 are not escaped, so files of such lines must be split on LF only.
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


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest_of(value: Mapping[str, Any]) -> str:
    """Return the sha256 of plain values as one line of canonical JSON, in hexadecimal."""
    return hashlib.sha256(to_line(value).encode("utf-8")).hexdigest()


def digest_files(paths: Sequence[Path]) -> dict[str, str]:
    """Return the name of each file, to the sha256 of its bytes in hexadecimal."""
    return {path.name: sha256_of(path) for path in paths}


def check_digest(path: Path, record: Path, stage: str = "verify") -> None:
    """Refuse a file whose digest is not the one in ``record``, which a stage wrote.

    Raises:
        FormatError: the digests differ, or none is recorded.
    """
    known = read_json(record)
    expected = known.get(path.name) if isinstance(known, dict) else None
    if (found := sha256_of(path)) != expected:
        raise FormatError(
            f"{path} has sha256 {found}, but {record} has {expected}; "
            f"run `dvc repro {stage}` on the present file first"
        )
