"""Where the files of a source are: a pinned hub revision, a mirror folder, or the user's own."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from bears.errors import SourceError, first_line
from bears.formats.digest import sha256_of
from bears.sources.first_fetch import first_digest
from bears.sources.rows import SUFFIXES
from bears.sources.source import Part, Source, same_split


def locate(
    source: Source, mirror: Path | None, root: Path, kept: Path = Path(".bears")
) -> dict[str, list[Path]]:
    """The local files of every part, fetched from the hub where need be, each digest checked.

    A source that names ``files`` has a part for each of its patterns. A file of the hub whose
    digest the source does not know must stay what it was when it was first fetched.

    Args:
        source: what to find; its ``path`` is a file, or the folder of its parts.
        mirror: a folder that stands in for the hub. It holds ``<source>.json``, ``.jsonl`` or
            ``.parquet``, or of a source of parts a folder of its name; None for the hub itself.
        root: what a relative ``path`` is relative to.
        kept: the folder with the record of first fetches.

    Raises:
        SourceError: a file is absent, cannot be fetched, or has another digest than expected.
    """
    local = None
    if source.path:
        local = root / Path(source.path).expanduser()
    elif mirror is not None:
        local = mirror / source.name if source.layout else _in_mirror(source, mirror)
    if local is not None and not source.layout:
        found = {"rows": _tables(source, local)}
    else:
        parts = source.parts or {pattern: Part((pattern,)) for pattern in source.files}
        if local is not None or not source.hub:
            parts = source.layout
        found = {
            name: _part(source, name, part, local, kept)
            for name, part in parts.items()
            if part.files
        }
    paths = [path for part_paths in found.values() for path in part_paths]
    # What stands in for the hub's files may have other names.
    if local is None or (source.path and not source.hub):
        _check_names(source, paths, () if local else parts.values())
    for path in paths:
        _check_digest(source, path, discard=local is None)
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


def _part(
    source: Source, name: str, configured: Part, local: Path | None, kept: Path
) -> list[Path]:
    part = replace(
        configured,
        files=tuple(pattern.replace("{split}", source.split) for pattern in configured.files),
        hub=configured.hub or source.hub,
        revision=configured.revision or source.revision,
    )
    return _on_hub(source, name, part, kept) if local is None else _local(source, name, part, local)


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


def _on_hub(source: Source, name: str, part: Part, kept: Path) -> list[Path]:
    if not part.hub:
        raise SourceError(
            f"source {source.name} cannot be fetched: no address of it is known"
            + (f" but {source.homepage}" if source.homepage else "")
            + f". Put its files into a folder {source.name} within a folder FOLDER and take "
            f"-S mirror=FOLDER, or give sources.{source.name}.path=FOLDER among the overrides; "
            f"the folder should hold {_wanted(part)}"
        )
    folder, there = _fetch(source.name, part)
    for pattern in part.files:
        if matches := sorted(path for path in there if fnmatchcase(path, pattern)):
            for path in matches:
                if not source.pin_of(path):
                    address = f"{part.hub}@{part.revision}/{path}"
                    _check_first(source.name, folder / path, address, kept)
            return [folder / path for path in matches]
    where = f"{part.hub} at {part.revision}"
    raise SourceError(_no_match(source, name, part, where, sorted(there)))


def _wanted(part: Part) -> str:
    return " or ".join(part.files)


def _no_match(source: Source, name: str, part: Part, where: str, there: Sequence[str]) -> str:
    split = f"; another set of questions: sources.{source.name}.split=NAME" if source.split else ""
    return (
        f"source {source.name}, part {name}: no file matches {_wanted(part)} in {where}; "
        f"there: {', '.join(there) or 'nothing'}{split}"
    )


def _fetch(name: str, part: Part) -> tuple[Path, list[str]]:
    """The folder that holds the files of ``part`` after fetching them, and what is on the hub."""
    # Importing the hub's client takes half a second, and most runs never fetch.
    from huggingface_hub import get_cached_repo_tree, snapshot_download
    from huggingface_hub.errors import (
        CachedRepoTreeNotFoundError,
        HFValidationError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )
    from huggingface_hub.utils import httpx  # type: ignore[attr-defined]  # the one it uses itself

    where: dict[str, Any] = {"repo_type": "dataset", "revision": part.revision}
    try:
        # Both keep the listing of a commit on disk, so that a second run asks the hub for nothing.
        folder = Path(snapshot_download(part.hub, allow_patterns=list(part.files), **where))
        there = [file.path for file in get_cached_repo_tree(part.hub, **where)]
    except (RepositoryNotFoundError, RevisionNotFoundError, HFValidationError) as error:
        raise SourceError(
            f"source {name}: the hub shows no dataset {part.hub} at {part.revision} "
            f"({first_line(error)}). Check hub and revision; for a private or gated dataset, "
            "set HF_TOKEN"
        ) from error
    except (httpx.HTTPError, OSError, CachedRepoTreeNotFoundError) as error:
        raise SourceError(
            f"source {name}: {part.hub} at {part.revision} could not be fetched: "
            f"{first_line(error)}. Files that were received whole are kept, and the next run "
            f"fetches the rest. Without a network, put {name}.parquet, .json or .jsonl "
            "into a folder and name it: -S mirror=FOLDER; a source of several files goes into "
            f"FOLDER/{name}"
        ) from error
    return folder, there


def _check_names(source: Source, paths: Iterable[Path], parts: Iterable[Part]) -> None:
    names = [source.pin_of(path) or path.name for path in paths]
    names += [f"{part.config}/{part.split}" for part in parts if not part.files]
    if unknown := sorted(set(source.sha256) - set(names)):
        raise SourceError(
            f"source {source.name}: sha256 names {', '.join(unknown)}, but the files are "
            f"{', '.join(names)}; a digest under another name would check nothing"
        )


def _check_digest(source: Source, path: Path, discard: bool) -> None:
    name = source.pin_of(path)
    if not name or (found := sha256_of(path)) == (expected := source.sha256[name]):
        return
    kept = "left where it is"
    if discard:
        _discard(path)
        kept = "removed, so that the next run fetches it again"
    raise SourceError(
        f"source {source.name}: {name} has sha256 {found}, expected {expected}; "
        f"the file was damaged or changed, and is {kept}"
    )


def _check_first(source: str, path: Path, address: str, kept: Path) -> None:
    expected, record = first_digest(kept, address, found := sha256_of(path))
    if found != expected:
        _discard(path)
        raise SourceError(
            f"source {source}: {address} has sha256 {found}, but had {expected} when it was first "
            "fetched: the copy here was damaged, or the hub gives something else for the same "
            "commit. It is removed, so that the next run fetches it again; to trust what comes "
            f"then, remove its line from {record}"
        )


def _discard(path: Path) -> None:
    """Remove a file of the hub's cache, and what its link points to."""
    path.resolve().unlink()
    path.unlink(missing_ok=True)
