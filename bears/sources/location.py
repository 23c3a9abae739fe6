"""Find the files of a source: at a pinned commit of the hub, in a mirror, or in a folder."""

import re
from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import chain, islice
from pathlib import Path

from bears.config.shape import Part, Source
from bears.errors import SourceError
from bears.files.intake.hub import fetched, splits_of
from bears.layout import LOCAL
from bears.sources.first_fetch import check_file
from bears.sources.rows import SUFFIXES
from bears.sources.source import layout_of, on_hub, same_split


def locate(
    source: Source,
    mirror: Path | None,
    root: Path,
    record: Path = LOCAL,
    first_only: Collection[str] = (),
) -> dict[str, list[Path]]:
    """Return the local files of every part, fetched from the hub if needed, each digest checked.

    Args:
        source: what to find; its ``path`` is a file, or the folder of its parts.
        mirror: a folder that replaces the hub. It holds ``<source>.json``, ``.jsonl`` or
            ``.parquet``, or for a source of parts a folder of its name; None for the hub itself.
        root: what a relative ``path`` is relative to.
        record: the folder with the record of first fetches.
        first_only: parts of which the hub's first file is enough.

    Raises:
        SourceError: a file is absent, or has another digest than expected.
        FormatError: it cannot be fetched.
    """
    local = None
    if source.path:
        local = root / Path(source.path).expanduser()
    elif mirror is not None:
        local = mirror / source.name if layout_of(source) else _in_mirror(source, mirror)
    if local is None:
        parts = on_hub(source) if source.hub else layout_of(source)
        found = {
            name: _on_hub(source, name, part, record, name in first_only)
            for name, part in parts.items()
        }
    elif layout := layout_of(source):
        found = {name: _local(source, name, part, local) for name, part in layout.items()}
    else:
        found = {"rows": _tables(source, local)}
    files = list(chain.from_iterable(found.values()))
    # A mirror's files may have other names than the hub's.
    if local is None or (source.path and not source.hub):
        names = [source.pin_of(path) or path.name for path in files]
        if unknown := sorted(set(source.sha256) - set(names)):
            raise SourceError(
                f"source {source.name}: sha256 names {', '.join(unknown)}, but the files are "
                f"{', '.join(names)}; a digest under another name would check nothing"
            )
    for path in files if local else ():
        if source.pin_of(path):
            check_file(source, path, record)
    return found


def _tables(source: Source, path: Path) -> list[Path]:
    """Return the file that a source is, or those files of a folder whose paths name its split."""
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
            + (f" and is called after the split {source.split!r}" if source.split else "")
            + f"; there: {_listed(str(p.relative_to(path)) for p in there)}"
        )
    return found


def _in_mirror(source: Source, mirror: Path) -> Path:
    names = [f"{source.name}{suffix}" for suffix in SUFFIXES] + [source.name]
    found = [mirror / name for name in names if (mirror / name).exists()]
    if len(found) != 1:
        there = (path.name for path in sorted(mirror.glob("*")))
        raise SourceError(
            f"source {source.name}: expected exactly one of {', '.join(names)} in the mirror "
            f"{mirror}, found {_listed(path.name for path in found)}; there: {_listed(there)}"
        )
    return found[0]


def _local(source: Source, name: str, part: Part, folder: Path) -> list[Path]:
    if folder.is_file() and len(layout_of(source)) == 1:
        return [folder]
    if not folder.is_dir():
        raise SourceError(
            f"source {source.name}: {folder} is not a folder; it should hold "
            f"{' or '.join(part.files)}"
        )
    for pattern in part.files:
        if pattern == ".":
            return [folder]
        absolute = Path(pattern).is_absolute()
        matches = [Path(pattern)] if absolute else sorted(folder.glob(pattern))
        if files := [path for path in matches if path.is_file()]:
            return files
    there = sorted(str(p.relative_to(folder)) for p in [*folder.glob("*"), *folder.glob("*/*")])
    raise _no_match(source, name, part, str(folder), there)


def _on_hub(source: Source, name: str, part: Part, record: Path, first_only: bool) -> list[Path]:
    if not part.hub:
        raise SourceError(
            f"source {source.name} has neither hub nor path. Give the folder of its files as an "
            f"override, sources.{source.name}.path=FOLDER, or put a folder {source.name} into a "
            f"folder FOLDER and take -S mirror=FOLDER; it should hold {' or '.join(part.files)}"
        )
    files = list(part.files)
    if not files:
        files = splits_of(part.hub, part.revision, part.config)[part.split]
        files = files[:1] if first_only or source.limit else files
    folder, there = fetched(part.hub, part.revision, files)
    matches = [[path for path in there if fnmatchcase(path, pattern)] for pattern in files]
    # The first pattern that matches, but every file of a split.
    chosen = next(filter(None, matches), []) if part.files else [*chain.from_iterable(matches)]
    if not chosen:
        raise _no_match(source, name, part, f"{part.hub} at {part.revision}", there)
    for path in chosen:
        check_file(source, folder / path, record, f"{part.hub}@{part.revision}/{path}")
    return [folder / path for path in chosen]


def _no_match(
    source: Source, name: str, part: Part, where: str, there: Sequence[str]
) -> SourceError:
    named = source.split and any(source.split in pattern for pattern in part.files)
    key = f"split=NAME, as an override sources.{source.name}.split=NAME"
    return SourceError(
        f"source {source.name}, part {name}: no file matches {' or '.join(part.files)} in {where}; "
        f"there: {_listed(there)}" + (f". Choose: {key}" if named else "")
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(islice(names, 30)) or "nothing"
