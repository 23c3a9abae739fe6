"""Texts of documents, found by id: for what reads them again after a search."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from bears.errors import FormatError
from bears.files.records import atomic_write, to_line, write_text
from bears.retrieval.index_files import read_value
from bears.types import Document

LINES, STARTS = "texts.jsonl", "starts.json"


def recorded(documents: Iterable[Document], folder: Path) -> Iterator[Document]:
    """Yield the documents and write down their texts, which are there once all are read.

    Their ids are held in memory.

    Args:
        documents: chunks of one document follow one another.
        folder: where the texts go.
    """
    starts: dict[str, int] = {}
    position = 0
    with atomic_write(folder / LINES) as stream:
        for document in documents:
            line = to_line({"doc_id": document.doc_id, "text": document.content}).encode()
            starts.setdefault(document.doc_id, position)
            stream.write(line)
            position += len(line)
            yield document
    write_text(folder / STARTS, json.dumps(starts, ensure_ascii=False))


class StoredTexts:
    """The texts that `recorded` wrote; only what is asked for is read.

    Raises:
        FormatError: a file is missing.
        StoreError: a file is damaged.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._stream = (folder / LINES).open("rb")
        except FileNotFoundError as error:
            raise FormatError(f"{error.filename}: no such file; make the index again") from None
        self._starts = read_value(folder / STARTS, dict[str, int])

    def __del__(self) -> None:
        if stream := getattr(self, "_stream", None):
            stream.close()

    def chunks(self, doc_id: str) -> list[str]:
        """The texts of a document's chunks, in order.

        Raises:
            FormatError: there is no such document.
        """
        texts = []
        # What does not begin at a line of this document is as good as missing.
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            self._stream.seek(self._starts[doc_id])
            for row in map(json.loads, iter(self._stream.readline, b"")):
                if row["doc_id"] != doc_id:
                    break
                texts.append(str(row["text"]))
        if not texts:
            raise FormatError(
                f"the index lacks the text of {doc_id!r}; it was changed or not written whole. "
                "Make it again: `dvc repro --force index`"
            )
        return texts
