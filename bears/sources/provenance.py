"""Where the rows of a source came from, as data/raw/<benchmark>/sources.json tells it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bears.files.digest import sha256_of
from bears.sources.parts import Parts, Table
from bears.sources.source import Source


def provenance(source: Source, parts: Parts, mirror: Path | None) -> dict[str, Any]:
    """What `bears.sources.convert.convert` says of a source that was read whole."""
    if source.path:
        origin = {"path": source.path}
    elif mirror is not None:
        origin = {"mirror_of": source.hub or source.name}
    elif source.layout:
        pins = {f"{part.hub} {part.revision}" for part in source.on_hub.values()}
        origin = {"hub": ", ".join(sorted(pins))}
    else:
        origin = {"hub": source.hub, "revision": source.revision}
    told_of: dict[str, Any] = {
        "source": source.name,
        "licence": source.licence,
        **origin,
        "rows_expected": source.rows,
        "files": [
            {
                "name": name,
                "sha256": digest,
                **({"checksum": _checksum(source, name)} if "hub" in origin else {}),
                "bytes": size,
                "rows": rows,
            }
            for name, digest, size, rows in _read(parts)
        ],
    }
    told = {"notes": dict(sorted(parts.notes.items())), "failures": parts.failures}
    return told_of | {k: value for k, value in told.items() if value or source.layout}


def _read(parts: Parts) -> Iterator[tuple[str, str, int, int]]:
    """Name, digest, size and rows of everything that was read."""
    for table, rows in parts.counts.items():
        if isinstance(table, Table):
            yield table.name, table.digest.hexdigest(), table.size, rows
        else:
            yield parts.called(table), sha256_of(table), table.stat().st_size, rows


def _checksum(source: Source, name: str) -> str:
    return "pinned" if name in source.sha256 else "first fetch"
