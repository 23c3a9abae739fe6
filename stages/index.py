"""index: the verified corpus → the retriever's index."""

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from bears.config import checkout
from bears.config.pipeline import Paths, exit_with
from bears.config.shape import Choice
from bears.config.typed import build
from bears.files.chunk_run import write_places
from bears.files.records import check_digest, document_count, stream_documents, write_json
from bears.files.shown import complain
from bears.layout import SCRATCH
from bears.retrieval.chunking import Chunking, NoChunking, chunks
from bears.retrieval.cut import as_rows, cuts_below, messages
from bears.retrieval.index_files import PLACES, write_made_from
from bears.types import Chunk, IndexedChunk


def main(paths: Paths, *, chunking: Choice, retriever: Choice) -> None:
    """Build the index of the selected retriever."""
    check_digest(paths["corpus"], paths["verified"])
    paths["out"].mkdir(parents=True, exist_ok=True)
    cutting = build(chunking, "chunking")
    # The number of chunks is known in advance only if each document is one.
    expected = document_count(paths["corpus"]) if isinstance(cutting, NoChunking) else 0
    counted = _Counted(paths["corpus"], cutting, expected)
    started = perf_counter()
    build(retriever, "retriever").index(counted, paths["out"], checkout() / SCRATCH)
    seconds = perf_counter() - started
    size = sum(file.stat().st_size for file in paths["out"].rglob("*") if file.is_file())
    density = counted.number / max(counted.documents, 1)
    if counted.places:
        write_places(paths["out"] / PLACES, counted.places)
    write_made_from(paths["out"], paths["corpus"], density)
    cuts = cuts_below(paths["out"])
    measured: dict[str, Any] = {
        "chunks": counted.number,
        "index_s": round(seconds, 3),
        "chunks_per_s": round(counted.number / seconds, 1),
        "index_bytes": size,
        "texts_cut": as_rows(cuts),
    }
    write_json(paths["timing"], measured)
    for line in messages(cuts):
        complain(f"index: {line}")


class _Counted:
    """The chunks of a corpus, which are counted whenever they are read.

    Args:
        corpus: the file of the documents.
        cutting: cuts them.
        expected: about their number; 0 if unknown.

    Attributes:
        places: the name of each chunk that is not a whole document, and the chunk.
    """

    def __init__(self, corpus: Path, cutting: Chunking, expected: int) -> None:
        self._corpus, self._cutting, self._expected = corpus, cutting, expected
        self._forget()

    def __length_hint__(self) -> int:
        return self._expected

    def _forget(self) -> None:
        self.number = self.documents = 0
        self.places: list[tuple[str, Chunk]] = []

    def __iter__(self) -> Iterator[IndexedChunk]:
        self._forget()
        last = None
        for each in chunks(stream_documents(self._corpus), self._cutting):
            self.number += 1
            self.documents += each.chunk.doc_id != last
            last = each.chunk.doc_id
            if each.chunk.end is not None:
                self.places.append((each.doc_id, each.chunk))
            yield each


if __name__ == "__main__":
    exit_with("index", main)
