"""From a source's own files to rows of one shape, with a record of where they came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bears.errors import SourceError
from bears.formats.digest import sha256_of
from bears.formats.records import atomic_write
from bears.formats.rows import row_to_line
from bears.sources import parts as of_parts
from bears.sources.location import Source, locate
from bears.sources.parts import Parts, locate_parts
from bears.sources.rows import NumberedRows, Row, read_rows
from bears.types import Article, PassageRow

Reader = Callable[[NumberedRows, str], Iterator[Article | PassageRow]]


def convert(
    source: Source, reader: Reader, mirror: Path | None, root: Path, out: Path
) -> dict[str, Any]:
    """Write the rows of ``source`` to ``out`` (JSON Lines, atomically).

    Returns:
        Its provenance: origin, revision, and for each file name, sha256, bytes and rows.

    Raises:
        SourceError: a file is absent, damaged, empty, or holds another number of rows than known.
    """
    paths = locate(source, mirror, root)
    counts: dict[Path, int] = {}
    with atomic_write(out) as stream, _bar(source) as bar:
        for path in paths:
            for row in reader(_counted(path, counts), path.name):
                stream.write(row_to_line(row))
                bar.update()
        _check_rows(source, sum(counts.values()), pinned=mirror is None or bool(source.path))
    return _provenance(source, counts, mirror)


def convert_parts(
    source: Source,
    reader: of_parts.Reader,
    mirror: Path | None,
    root: Path,
    out: Path,
    folder: Path = Path(".bears"),
) -> dict[str, Any]:
    """As `convert`, for a source that is a benchmark already.

    Args:
        folder: where a reader may keep what it fetches by itself.

    Returns:
        Also ``notes``: what the reader met with, and how often; and ``failures``: what of the
        source could not be had, and why.
    """
    found = locate_parts(source, mirror, root)
    parts = Parts(source.name, found, source.settings, folder)
    with atomic_write(out) as stream, _bar(source) as bar:
        for row in reader(parts):
            stream.write(row_to_line(row))
            bar.update()
        _check_rows(source, sum(parts.counts.values()), pinned=mirror is None and not source.path)
    return {
        **_provenance(source, parts.counts, mirror),
        "notes": dict(sorted(parts.notes.items())),
        "failures": parts.failures,
    }


def _bar(source: Source) -> Any:
    return tqdm(desc=f"read {source.name}", unit=" rows", disable=None)


def _counted(path: Path, counts: dict[Path, int]) -> Iterator[tuple[int, Row]]:
    counts[path] = 0
    for number, row in enumerate(read_rows(path), start=1):
        counts[path] = number
        yield number, row


def _check_rows(source: Source, found: int, pinned: bool) -> None:
    if not found:
        raise SourceError(f"source {source.name}: there is no row in its files")
    if pinned and source.rows is not None and found != source.rows:
        raise SourceError(
            f"source {source.name}: {found} rows, expected {source.rows}; "
            "the file is truncated or not the pinned one"
        )


def _provenance(source: Source, counts: dict[Path, int], mirror: Path | None) -> dict[str, Any]:
    if source.path:
        origin = {"path": source.path}
    elif mirror is not None:
        origin = {"mirror_of": source.hub or source.name}
    elif source.parts:
        pins = {
            f"{p.hub or source.hub} {p.revision or source.revision}" for p in source.parts.values()
        }
        origin = {"hub": ", ".join(sorted(pins))}
    else:
        origin = {"hub": source.hub, "revision": source.revision}
    return {
        "source": source.name,
        "licence": source.licence,
        **origin,
        "rows_expected": source.rows,
        "files": [
            {"name": p.name, "sha256": sha256_of(p), "bytes": p.stat().st_size, "rows": rows}
            for p, rows in counts.items()
        ],
    }
