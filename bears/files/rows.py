"""The documents and questions of a source, without holding them in memory."""

import json
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, Generic, TypeVar

from bears.files.intake.files import numbered_lines, opened
from bears.files.records import json_as
from bears.types import Document, SourceQuestion

T = TypeVar("T")
DOCUMENTS, QUESTIONS = ".documents.jsonl", ".questions.jsonl"


class RowFile(Sequence[T], Generic[T]):
    """The rows of a JSON Lines file as a read-only sequence of dataclasses.

    Rows are parsed when they are read. Reading one by its position takes eight bytes of memory per
    row, for where the lines begin.

    Args:
        path: the file; lines end with LF only.
        kind: the class of a row.
    """

    def __init__(self, path: Path, kind: type[T]) -> None:
        self._path, self._kind = path, kind

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

    def __iter__(self) -> Iterator[T]:
        return (self._parse(line, number) for number, line in numbered_lines(self._path))

    def _parse(self, line: bytes, number: int) -> T:
        return json_as(self._kind, line, f"{self._path}, line {number}")


@dataclass(frozen=True)
class SourceRecords:
    """The records that `download` made of a source."""

    documents: Sequence[Document]
    questions: Sequence[SourceQuestion]

    @cached_property
    def places(self) -> dict[str, int]:
        """Return doc_id to position."""
        return {document.doc_id: place for place, document in enumerate(self.documents)}


def row_to_line(row: Any) -> bytes:
    """Return one row as a line that `RowFile` reads back."""
    text = json.dumps(asdict(row), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8") + b"\n"


def files_of(folder: Path, source: str) -> tuple[Path, Path]:
    """Return the files of a source's documents and of its questions."""
    return folder / f"{source}{DOCUMENTS}", folder / f"{source}{QUESTIONS}"


def open_rows(folder: Path, source: str) -> SourceRecords:
    """Return the records that `download` wrote of a source."""
    documents, questions = files_of(folder, source)
    return SourceRecords(RowFile(documents, Document), RowFile(questions, SourceQuestion))


def sources_in(folder: Path) -> dict[str, SourceRecords]:
    """Return the records of every source by its name."""
    names = sorted(path.name.removesuffix(DOCUMENTS) for path in folder.glob(f"*{DOCUMENTS}"))
    return {name: open_rows(folder, name) for name in names}
