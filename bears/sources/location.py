"""Where the files of a source are: a pinned hub revision, a mirror folder, or the user's own."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path

from bears.errors import SourceError
from bears.files.digest import sha256_of
from bears.files.intake.hub_rows import fetched
from bears.sources.first_fetch import check_digest
from bears.sources.parts import Table
from bears.sources.rows import SUFFIXES
from bears.sources.source import Part, Source, same_split


def locate(
    source: Source, mirror: Path | None, root: Path, kept: Path = Path(".bears")
) -> dict[str, list[Path | Table]]:
    """The local files of every part, fetched from the hub where need be, each digest checked.

    Of what the hub streams, the tables; they are checked once they were read.

    Args:
        source: what to find; its ``path`` is a file, or the folder of its parts.
        mirror: a folder that stands in for the hub. It holds ``<source>.json``, ``.jsonl`` or
            ``.parquet``, or of a source of parts a folder of its name; None for the hub itself.
        root: what a relative ``path`` is relative to.
        kept: the folder with the record of first fetches.

    Raises:
        SourceError: a file is absent, or has another digest than expected.
        FormatError: it cannot be fetched.
    """
    local = None
    if source.path:
        local = root / Path(source.path).expanduser()
    elif mirror is not None:
        local = mirror / source.name if source.layout else _in_mirror(source, mirror)
    found: dict[str, list[Path | Table]]
    if local is None:
        parts = source.on_hub if source.hub else source.layout
        found = {name: _on_hub(source, name, part, kept) for name, part in parts.items()}
    elif source.layout:
        found = {name: [*_local(source, name, p, local)] for name, p in source.layout.items()}
    else:
        found = {"rows": [*_tables(source, local)]}
    tables = list(chain.from_iterable(found.values()))
    # What stands in for the hub's files may have other names.
    if local is None or (source.path and not source.hub):
        _check_names(source, tables)
    for path in tables if local else ():
        if isinstance(path, Path) and source.pin_of(path):
            _check(source, path, kept)
    return found


def _tables(source: Source, path: Path) -> list[Path]:
    """The file that a source is, or those files of a folder whose paths name its split."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise SourceError(f"source {source.name}: {path} does not exist")
    there = sorted(p for p in path.rglob("*") if p.is_file() and p.name.endswith(SUFFIXES))
    words = "|".join(re.escape(name) for name in same_split(source.split))
    split = re.compile(rf"(?<![a-z])({words})(?![a-z])", re.I)
    found = [p for p in there if not source.split or split.search(str(p.relative_to(path)))]
    if not found:
        raise SourceError(
            f"source {source.name}: {path} has no file that ends with {', '.join(SUFFIXES)}"
            + f" and is called after the split {source.split!r}" * bool(source.split)
            + f"; there: {', '.join(str(p.relative_to(path)) for p in there[:30]) or 'nothing'}"
        )
    return found


def _in_mirror(source: Source, mirror: Path) -> Path:
    names = [f"{source.name}{suffix}" for suffix in SUFFIXES] + [source.name]
    found = [mirror / name for name in names if (mirror / name).exists()]
    if len(found) != 1:
        there = sorted(path.name for path in mirror.iterdir()) if mirror.is_dir() else "no folder"
        raise SourceError(
            f"source {source.name}: expected exactly one of {', '.join(names)} in the mirror "
            f"{mirror}, found {[path.name for path in found] or 'none'} (there: {there})"
        )
    return found[0]


def _local(source: Source, name: str, part: Part, folder: Path) -> list[Path]:
    if folder.is_file() and len(source.layout) == 1:
        return [folder]
    if not folder.is_dir():
        raise SourceError(
            f"source {source.name}: {folder} is no folder; it should hold {_wanted(part)}"
        )
    for pattern in part.files:
        absolute = Path(pattern).is_absolute()
        if pattern == ".":
            return [folder]
        matches = [Path(pattern)] if absolute else sorted(folder.glob(pattern))
        if files := [path for path in matches if path.is_file()]:
            return files
    there = sorted(str(p.relative_to(folder)) for p in [*folder.glob("*"), *folder.glob("*/*")])
    raise SourceError(_no_match(source, name, part, str(folder), there[:30]))


def _on_hub(source: Source, name: str, part: Part, kept: Path) -> list[Path | Table]:
    if not part.hub:
        raise SourceError(
            f"source {source.name} cannot be fetched: no address of it is known"
            + (f" but {source.homepage}" if source.homepage else "")
            + f". Put its files into a folder {source.name} within a folder FOLDER and take "
            f"-S mirror=FOLDER, or give sources.{source.name}.path=FOLDER among the overrides; "
            f"the folder should hold {_wanted(part)}"
        )
    if not part.files:
        return [Table(part.hub, part.revision, part.config, part.split, source.limit)]
    folder, there = fetched(part.hub, part.revision, part.files)
    for pattern in part.files:
        if matches := [path for path in there if fnmatchcase(path, pattern)]:
            for path in matches:
                _check(source, folder / path, kept, f"{part.hub}@{part.revision}/{path}")
            return [folder / path for path in matches]
    raise SourceError(_no_match(source, name, part, f"{part.hub} at {part.revision}", there))


def _check(source: Source, path: Path, kept: Path, address: str = "") -> None:
    try:
        check_digest(source, str(path), sha256_of(path), kept, address)
    except SourceError as error:
        became = "left where it is"
        if address:
            # What its link in the hub's cache points to, too.
            path.resolve().unlink()
            path.unlink(missing_ok=True)
            became = "removed, so that the next run fetches it again"
        raise SourceError(f"{error}. The file is {became}") from None


def _wanted(part: Part) -> str:
    return " or ".join(part.files)


def _no_match(source: Source, name: str, part: Part, where: str, there: Sequence[str]) -> str:
    named = source.split and any(source.split in pattern for pattern in part.files)
    key = f"split=NAME, as an override sources.{source.name}.split=NAME"
    split = f". Choose: {key}" if named else ""
    return (
        f"source {source.name}, part {name}: no file matches {_wanted(part)} in {where}; "
        f"there: {', '.join(there) or 'nothing'}{split}"
    )


def _check_names(source: Source, tables: Sequence[Path | Table]) -> None:
    names = [
        f"{table.config}/{table.split}"
        if isinstance(table, Table)
        else source.pin_of(table) or table.name
        for table in tables
    ]
    if unknown := sorted(set(source.sha256) - set(names)):
        raise SourceError(
            f"source {source.name}: sha256 names {', '.join(unknown)}, but the files are "
            f"{', '.join(names)}; a digest under another name would check nothing"
        )
