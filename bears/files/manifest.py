"""Manifests: size and sha256 of each file of an output, written after all of them.

A folder contains its ``manifest.json``. Files that belong together have one beside them, named
after the first file: ``bm25.trec`` and ``bm25.within.trec`` have ``bm25.manifest.json``.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from bears.errors import FormatError
from bears.files.intake.files import read_whole
from bears.files.records import json_as, sha256_of, write_json
from bears.types import ForbidsExtra

NAME = "manifest.json"


@dataclass(frozen=True)
class SealedFile(ForbidsExtra):
    """One file: its size in bytes, and the sha256 of its content in hexadecimal."""

    bytes: int
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True)
class Manifest(ForbidsExtra):
    """The files of an output.

    Args:
        files: by their paths below the manifest's folder, with slashes.
        made_from: option of each input of the stage, to the sha256 of that file or of that
            folder's manifest. The manifest inside a folder does not have it, since it would change
            while the content stays the same, and DVC would run later stages again.
    """

    files: dict[str, SealedFile]
    made_from: dict[str, str] = field(default_factory=dict)


def seal(outputs: Sequence[Path], made_from: Mapping[str, str]) -> None:
    """Write the manifest of each folder, and one for all files among ``outputs`` together."""
    files = [path for path in outputs if not path.is_dir()]
    for folder in (path for path in outputs if path.is_dir()):
        names = {name: folder / name for name in _names(folder)}
        _write(folder / NAME, names, {})
    if files:
        manifest = files[0].with_suffix(f".{NAME}")
        names = {Path(os.path.relpath(file, manifest.parent)).as_posix(): file for file in files}
        _write(manifest, names, made_from)


def _write(path: Path, files: Mapping[str, Path], made_from: Mapping[str, str]) -> None:
    sealed = {
        name: asdict(SealedFile(file.stat().st_size, sha256_of(file)))
        for name, file in sorted(files.items())
    }
    write_json(path, {"files": sealed, **({"made_from": made_from} if made_from else {})})


def read_manifest(path: Path) -> Manifest:
    """Read a manifest.

    Raises:
        FormatError: it is missing or malformed.
    """
    return json_as(Manifest, read_whole(path), f"{path} is not a manifest")


def manifest_of(path: Path) -> Path | None:
    """Return the manifest of an output: the folder's own, or one that names the file."""
    if path.is_dir():
        return found if (found := path / NAME).is_file() else None
    return next(filter(lambda found: _names_file(found, path), _beside(path)), None)


def inputs_of(path: Path) -> dict[str, str]:
    """Return the ``made_from`` of an output's manifest; empty without one."""
    manifest = manifest_of(path)
    return read_manifest(manifest).made_from if manifest else {}


def _beside(file: Path) -> Iterator[Path]:
    """Yield where a file's manifest can be.

    For ``a.b.c`` these are a.b.manifest.json, a.manifest.json and the folder's.
    """
    words = file.name.split(".")
    for count in range(len(words) - 1, 0, -1):
        yield file.with_name(f"{'.'.join(words[:count])}.{NAME}")
    yield file.with_name(NAME)


def _names_file(manifest: Path, file: Path) -> bool:
    # A manifest.json of another program may be anything; it is ignored.
    try:
        # Path.is_file raises if the name is too long.
        return os.path.isfile(manifest) and file.name in read_manifest(manifest).files  # noqa: PTH113
    except FormatError:
        return False


def check(path: Path, promised: bool = False) -> str | None:
    """Check an output against its manifest.

    Args:
        path: a folder, which must have exactly the files of its manifest; or a file.
        promised: refuse an output without a manifest.

    Returns:
        The sha256 of the file, or of the folder's manifest; None without a manifest.

    Raises:
        FormatError: naming the file that is missing, unexpected or changed, and a way to fix it.
    """
    place = manifest_of(path)
    if place is None and not promised:
        return None
    try:
        if place is None:
            raise FormatError(f"{path} has no manifest, so it may be incomplete")
        return _checked(path, place)
    except FormatError as error:
        raise FormatError(
            f"{error}. Remove {path} and run `dvc repro`; if it is still damaged, so is DVC's "
            "cache: remove .dvc/cache too"
            + (f". If you changed it on purpose, remove {place}" if place and not promised else "")
        ) from None


def _checked(path: Path, place: Path) -> str:
    manifest = read_manifest(place)
    if not path.is_dir():
        _check_file(path, manifest.files[path.name], place)
        return manifest.files[path.name].sha256
    there = set(_names(path))
    for name in sorted(there | manifest.files.keys()):
        if name not in there:
            raise FormatError(f"{path / name} is missing, and {place} names it")
        if name not in manifest.files:
            raise FormatError(f"{path / name} is unexpected: {place} does not name it")
        _check_file(path / name, manifest.files[name], place)
    return sha256_of(place)


def _check_file(file: Path, expected: SealedFile, manifest: Path) -> None:
    size = file.stat().st_size if file.is_file() else "no"
    if size != expected.bytes:
        raise FormatError(f"{file} has {size} bytes, but {expected.bytes} in {manifest}")
    if (found := sha256_of(file)) != expected.sha256:
        raise FormatError(f"{file} has sha256 {found}, but {expected.sha256} in {manifest}")


def _names(folder: Path) -> Iterator[str]:
    """Yield the names of a folder's files for its manifest, without half-written ones.

    DVC ignores the files that a killed run left half-written too.
    """
    for path in folder.rglob("*"):
        half_written = path.name.startswith(".") and path.suffix == ".tmp"
        if not path.is_dir() and not half_written and path != folder / NAME:
            yield path.relative_to(folder).as_posix()
