"""index: the verified corpus → the retriever's index."""

from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import Any

from bears.config import build, checkout
from bears.config.pipeline import Paths, exit_with
from bears.config.shape import Choice
from bears.files.digest import check_digest
from bears.files.records import document_count, stream_documents, write_json
from bears.files.shown import complain
from bears.layout import SCRATCH
from bears.retrieval.chunking import NoChunking, chunks
from bears.retrieval.cut import as_rows, cuts_below, messages
from bears.retrieval.index_files import write_made_from
from bears.types import Document, document_of


def main(paths: Paths, *, chunking: Choice, retriever: Choice) -> None:
    """Build the index of the selected retriever."""
    check_digest(paths["corpus"], paths["verified"])
    paths["out"].mkdir(parents=True, exist_ok=True)
    cutting = build(chunking, "chunking")
    # The number of chunks is known in advance only if each document is one.
    expected = document_count(paths["corpus"]) if isinstance(cutting, NoChunking) else 0
    counted = _Counted(chunks(stream_documents(paths["corpus"]), cutting), expected)
    started = perf_counter()
    build(retriever, "retriever").index(counted, paths["out"], checkout() / SCRATCH)
    seconds = perf_counter() - started
    size = sum(file.stat().st_size for file in paths["out"].rglob("*") if file.is_file())
    density = counted.number / max(counted.documents, 1)
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
    """Chunks that are counted on the way; ``expected`` is about their number, 0 if unknown."""

    def __init__(self, chunks_: Iterable[Document], expected: int) -> None:
        self._chunks, self._expected, self.number, self.documents = chunks_, expected, 0, 0

    def __length_hint__(self) -> int:
        return self._expected

    def __iter__(self) -> Iterator[Document]:
        last = None
        for chunk in self._chunks:
            self.number += 1
            # A corpus that is not cut may have ids that look like those of chunks.
            doc_id = chunk.doc_id if self._expected else document_of(chunk.doc_id)
            self.documents += doc_id != last
            last = doc_id
            yield chunk


if __name__ == "__main__":
    exit_with("index", main)
