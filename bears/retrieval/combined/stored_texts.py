"""The texts of an index by doc_id, for a reranker to read after a search."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from bears.files.records import atomic_write, to_line, write_text
from bears.retrieval.index_files import damaged, read_value
from bears.types import Document

LINES, STARTS = "texts.jsonl", "starts.json"


def recorded(documents: Iterable[Document], folder: Path) -> Iterator[Document]:
    """Yield the documents and write their texts, which are complete after the last one.

    Their ids are held in memory.

    Args:
        documents: no two have one id.
        folder: where the texts go.
    """
    starts: dict[str, int] = {}
    position = 0
    with atomic_write(folder / LINES) as stream:
        for document in documents:
            line = to_line({"doc_id": document.doc_id, "text": document.content}).encode()
            starts[document.doc_id] = position
            stream.write(line)
            position += len(line)
            yield document
    write_text(folder / STARTS, json.dumps(starts, ensure_ascii=False))


class StoredTexts:
    """The texts that `recorded` wrote. Each is read when it is needed.

    Raises:
        FormatError: a file is missing.
        StoreError: a file is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LINES
        self._starts = read_value(folder / STARTS, dict[str, int])

    def text(self, doc_id: str) -> str:
        """Return the text of a document.

        Raises:
            StoreError: the file has no such document where it should be.
        """
        with (
            suppress(OSError, ValueError, TypeError, KeyError, RecursionError),
            self._path.open("rb") as stream,
        ):
            stream.seek(self._starts[doc_id])
            row = json.loads(stream.readline())
            if row["doc_id"] == doc_id:
                return str(row["text"])
        raise damaged(self._path, f"it lacks the text of {doc_id!r}")
