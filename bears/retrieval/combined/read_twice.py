"""Documents that can be read once, read twice."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from operator import length_hint
from typing import IO

from bears.files.records import to_line
from bears.types import Document


class ReadTwice:
    """Documents that are written to a file as they go by, to be read a second time."""

    def __init__(self, stream: IO[bytes], documents: Iterable[Document]) -> None:
        self._stream, self._documents = stream, documents

    def __length_hint__(self) -> int:
        return length_hint(self._documents)

    def __iter__(self) -> Iterator[Document]:
        for document in self._documents:
            self._stream.write(to_line(asdict(document)).encode("utf-8", "surrogatepass"))
            yield document

    def again(self) -> Iterator[Document]:
        """The same documents, out of the file."""
        self._stream.seek(0)
        return (Document(**json.loads(line)) for line in self._stream)
