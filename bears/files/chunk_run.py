"""Rankings of chunks in a table: ``question_id``, ``doc_id``, ``start``, ``end``, ``score``.

The rows of a question are together, best first. ``end`` is null for a whole document.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bears.errors import FormatError
from bears.files.intake.tables import parquet_rows
from bears.files.manifest import check
from bears.files.records import atomic_write
from bears.types import Chunk, ChunkHit, ChunkRanking, ChunkRun, in_chunk_order

ROWS = 100_000
"""How many rows are written at once."""


@contextmanager
def chunk_run_writer(path: Path) -> Iterator[Callable[[str, ChunkRanking], None]]:
    """Write a run of chunks atomically: yield a function that writes a question's ranking.

    Chunks of equal score are ordered by their names, as `bears.files.trec.order` orders documents.

    Raises:
        FormatError: a score is NaN or infinite. Then no file is written or replaced.
    """
    import pyarrow as pa
    from pyarrow import parquet

    text, number = pa.string(), pa.int64()
    kinds = {"question_id": text, "doc_id": text, "start": number, "end": number}
    schema = pa.schema({**kinds, "score": pa.float64()})
    rows: list[tuple[Any, ...]] = []

    def write(question_id: str, ranking: ChunkRanking) -> None:
        for chunk, score in in_chunk_order(ranking):
            if not math.isfinite(score):
                raise FormatError(
                    f"{path} was not written: question {question_id!r}, chunk {chunk.name!r}: the "
                    f"score {score} is not finite"
                )
            rows.append((question_id, chunk.doc_id, chunk.start, chunk.end, float(score)))
        if len(rows) >= ROWS:
            flush()

    def flush() -> None:
        columns = list(zip(*rows, strict=True)) or [()] * len(schema)
        table.write_table(pa.table(columns, schema))
        rows.clear()

    with atomic_write(path) as stream, parquet.ParquetWriter(stream, schema) as table:
        yield write
        flush()


def read_chunk_run(path: Path, question_ids: Collection[str], most: int | None = None) -> ChunkRun:
    """Return question_id to its ranking of chunks; empty for a question without rows.

    Args:
        path: a file of `chunk_run_writer`.
        question_ids: the questions to read.
        most: how many chunks of each; None for all.

    Raises:
        FormatError: the file is absent, is not such a table, or differs from its manifest.
    """
    check(path)
    found: defaultdict[str, list[ChunkHit]] = defaultdict(list)
    try:
        for row in parquet_rows(path):
            key = row["question_id"]
            if key in question_ids and (most is None or len(found[key]) < most):
                chunk = Chunk(row["doc_id"], row["start"], row["end"])
                found[key].append(ChunkHit(chunk, row["score"]))
    except KeyError as error:
        raise FormatError(f"{path}: no column {error}; it is not a run of chunks") from None
    return {question_id: tuple(found[question_id]) for question_id in question_ids}


def write_places(path: Path, places: Iterable[tuple[str, Chunk]]) -> None:
    """Write the chunk of each name in an index, as a table with the columns of a chunk."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = [(name, each.doc_id, each.start, each.end) for name, each in places]
    text, number = pa.string(), pa.int64()
    schema = pa.schema({"name": text, "doc_id": text, "start": number, "end": number})
    with atomic_write(path) as stream:
        parquet.write_table(pa.table(list(zip(*rows, strict=True)), schema), stream)


def read_places(path: Path) -> dict[str, Chunk]:
    """Return the chunk of each name in an index; none if every document is its own chunk.

    Raises:
        FormatError: the file is damaged.
    """
    if not path.is_file():
        return {}
    return {
        row["name"]: Chunk(row["doc_id"], row["start"], row["end"]) for row in parquet_rows(path)
    }
