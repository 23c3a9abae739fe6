"""Read a corpus from a folder of Parquet files."""

from collections.abc import Iterator
from pathlib import Path

from bears.errors import FormatError
from bears.types import Document


def stream_parquet(folder: Path) -> Iterator[Document]:
    """Yield the documents of a folder of Parquet files, by file name and row.

    Columns are texts: ``doc_id``, ``text`` or ``content``, and ``group`` where there are groups.
    Others are not read.

    Raises:
        FormatError: there is no such file, or one is not Parquet, lacks a column, or holds a row
            without a text.
    """
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise FormatError(f"{folder}: no *.parquet file there; expected shards of a corpus")
    for file in files:
        yield from _documents(file)


def _documents(file: Path) -> Iterator[Document]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    position = 0
    try:
        with pq.ParquetFile(file, pre_buffer=False) as shard:
            names = _columns(file, set(shard.schema_arrow.names))
            for batch in shard.iter_batches(1000, columns=names, use_threads=False):
                for row in zip(*(batch[name].to_pylist() for name in names), strict=True):
                    position += 1
                    if not all(isinstance(value, str) for value in row):
                        raise FormatError(
                            f"{file}, row {position}: {', '.join(names)} must be texts, "
                            f"found {row!r}"
                        )
                    doc_id, text, *group = row
                    yield Document(doc_id, text, file.parent.name, doc_id, False, *group)
    except pa.ArrowInvalid as error:
        raise FormatError(f"{file}: not a Parquet file ({error})") from None


def _columns(file: Path, found: set[str]) -> list[str]:
    text = next((name for name in ("text", "content") if name in found), None)
    if "doc_id" not in found or text is None:
        raise FormatError(
            f"{file}: has the columns {', '.join(sorted(found))}; expected doc_id, "
            "text or content, and group where there are groups"
        )
    return ["doc_id", text, *(["group"] if "group" in found else [])]
