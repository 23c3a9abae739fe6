"""Where the files of a source are: a pinned hub revision, a mirror folder, or a shipped file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar

from bears.errors import ConfigurationError, SourceError, first_line
from bears.formats.digest import sha256_of
from bears.sources.rows import SUFFIXES


@dataclass(frozen=True)
class Part:
    """One kind of file of a source that is a benchmark already: its corpus, its judgements.

    Args:
        files: glob patterns within the folder or the hub dataset; the first that matches is taken.
            ``{split}`` in them is the source's ``split``.
        hub, revision: where they are on the hub, if not where the source is.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    files: tuple[str, ...]
    hub: str = ""
    revision: str = ""

    def __post_init__(self) -> None:
        _check_pin("parts", self.hub, self.revision)


@dataclass(frozen=True)
class Source:
    """One source of a benchmark, as conf/source/<name>.yaml describes it.

    Args:
        name: the word in ids and in ``source_dataset``.
        reader: dotted name of the function from its rows, or its parts, to rows of our own.
        language: BCP 47 tag of its texts.
        licence: SPDX identifier of the texts' licence.
        hub: ``owner/name`` of a hub dataset; needs ``revision`` and ``files`` or ``parts``.
        revision: 40 hexadecimal digits of a commit; a branch or tag is refused.
        files: glob patterns of the files within the hub dataset, in reading order.
        path: a local file instead of the hub, or the folder of ``parts``; relative to the
            project's root.
        sha256: file name to digest, for every file whose content is known.
        rows: how many rows the pinned files hold, where known.
        parts: for a source that is a benchmark already, its files by what they hold.
        split: which of its sets of questions is asked.
        settings: what its reader can be told, see there.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    name: str
    reader: str
    language: str
    licence: str
    hub: str = ""
    revision: str = ""
    files: tuple[str, ...] = ()
    path: str = ""
    sha256: dict[str, str] = field(default_factory=dict)
    rows: int | None = None
    homepage: str = ""
    parts: dict[str, Part] = field(default_factory=dict)
    split: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.parts and bool(self.path) == bool(self.hub):
            raise ConfigurationError(f"source {self.name}: give either hub or path")
        _check_pin(f"source {self.name}", self.hub, self.revision)
        if self.hub and not self.files and not self.parts:
            raise ConfigurationError(f"source {self.name}: hub needs files, e.g. [data/*.parquet]")


def _check_pin(where: str, hub: str, revision: str) -> None:
    if hub and not re.fullmatch(r"[0-9a-f]{40}", revision):
        raise ConfigurationError(
            f"{where}: revision is {revision!r}; expected the 40 hexadecimal "
            "digits of a commit, since a branch or tag can change under your numbers"
        )


def locate(source: Source, mirror: Path | None, root: Path) -> list[Path]:
    """The local files of ``source``, fetched from the hub where need be, each digest checked.

    Args:
        source: what to find.
        mirror: a folder that holds ``<source>.json``, ``.jsonl`` or ``.parquet`` and stands in
            for the hub; None for the hub itself.
        root: what a shipped ``path`` is relative to.

    Raises:
        SourceError: a file is absent, cannot be fetched, or has another digest than expected.
    """
    if source.path:
        paths = [_existing(root / source.path, source)]
    elif mirror is not None:
        paths = [_in_mirror(source, mirror)]
    else:
        whole = Part(source.files, source.hub, source.revision)
        folder, there = fetch(source.name, whole)
        paths = [folder / name for name in _matching(source, there)]
    if mirror is None or source.path:
        check_names(source, paths)
    check_digests(source, paths, discard=not source.path and mirror is None)
    return paths


def _existing(path: Path, source: Source) -> Path:
    if not path.is_file():
        raise SourceError(f"source {source.name}: {path} does not exist")
    return path


def _in_mirror(source: Source, mirror: Path) -> Path:
    names = [f"{source.name}{suffix}" for suffix in SUFFIXES]
    found = [mirror / name for name in names if (mirror / name).is_file()]
    if len(found) != 1:
        there = sorted(path.name for path in mirror.iterdir()) if mirror.is_dir() else "no folder"
        raise SourceError(
            f"source {source.name}: expected exactly one of {', '.join(names)} in the mirror "
            f"{mirror}, found {[path.name for path in found] or 'none'} (there: {there})"
        )
    return found[0]


def fetch(name: str, part: Part) -> tuple[Path, list[str]]:
    """The folder that holds the files of ``part`` after fetching them, and what is on the hub.

    Raises:
        SourceError: the dataset does not exist or cannot be reached.
    """
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


def _matching(source: Source, names: list[str]) -> list[str]:
    chosen: dict[str, None] = {}
    for pattern in source.files:
        matches = sorted(name for name in names if fnmatchcase(name, pattern))
        if not matches:
            raise SourceError(
                f"source {source.name}: no file matches {pattern} in {source.hub} at "
                f"{source.revision}; there: {', '.join(sorted(names))}"
            )
        chosen.update(dict.fromkeys(matches))
    return list(chosen)


def check_names(source: Source, paths: Iterable[Path]) -> None:
    """Hold the names that have a digest against those of the files. Raises SourceError."""
    names = [path.name for path in paths]
    if unknown := sorted(set(source.sha256) - set(names)):
        raise SourceError(
            f"source {source.name}: sha256 names {', '.join(unknown)}, but the files are "
            f"{', '.join(names)}; a digest under another name would check nothing"
        )


def check_digests(source: Source, paths: Iterable[Path], discard: bool) -> None:
    """Hold files against the digests that are known.

    Args:
        discard: remove a file that differs, since it can be fetched again.

    Raises:
        SourceError: a digest is another one.
    """
    for path in paths:
        _check_digest(source, path, discard)


def _check_digest(source: Source, path: Path, discard: bool) -> None:
    expected = source.sha256.get(path.name)
    if expected is None or (found := sha256_of(path)) == expected:
        return
    kept = "left where it is"
    if discard:
        path.resolve().unlink()
        path.unlink(missing_ok=True)
        kept = "removed, so that the next run fetches it again"
    raise SourceError(
        f"source {source.name}: {path.name} has sha256 {found}, expected {expected}; "
        f"the file was damaged or changed, and is {kept}"
    )
