"""The files of a source that is a benchmark already: corpus, questions, judgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as with_values
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from bears.errors import SourceError
from bears.formats.rows import PoolRow
from bears.sources.location import Part, Source, check_digests, check_names, fetch
from bears.sources.rows import Numbered, read_rows


@dataclass
class Parts:
    """What a reader of such a source reads, and what it has to tell beside its rows.

    Args:
        name: the source.
        paths: part to its files.
        settings: what the configuration tells the reader.
        folder: where a reader may keep what it fetches by itself.
        notes: what was met with, and how often; it goes into the provenance.
        failures: what of the source could not be had, and why.
        counts: file to the number of rows read.
    """

    name: str
    paths: Mapping[str, Sequence[Path]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path(".bears")
    notes: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    counts: dict[Path, int] = field(default_factory=dict)

    def rows(self, part: str) -> Iterator[Numbered]:
        """The rows of a part's files, one file after the other. Raises as `read_rows`."""
        for path in self.paths[part]:
            for number, row in enumerate(read_rows(path), start=1):
                yield path.name, self.count(path, number), row

    def count(self, path: Path, number: int) -> int:
        """Note that ``number`` rows of a file were read."""
        self.counts[path] = number
        return number


Reader = Callable[[Parts], Iterator[PoolRow]]


def locate_parts(source: Source, mirror: Path | None, root: Path) -> dict[str, list[Path]]:
    """The local files of every part, fetched from the hub where need be, each digest checked.

    Args:
        source: what to find; its ``path`` is a folder, or the only part's file.
        mirror: a folder that holds a folder named after the source.
        root: what a relative ``path`` is relative to.

    Raises:
        SourceError: no file matches, or one cannot be fetched or has another digest.
    """
    found = {}
    for name, configured in source.parts.items():
        files = tuple(pattern.replace("{split}", source.split) for pattern in configured.files)
        part = with_values(
            configured,
            files=files,
            hub=configured.hub or source.hub,
            revision=configured.revision or source.revision,
        )
        if source.path:
            found[name] = _local(source, name, part, root / Path(source.path).expanduser())
        elif mirror is not None:
            found[name] = _local(source, name, part, mirror / source.name)
        else:
            found[name] = _on_hub(source, name, part)
    paths = [path for part_paths in found.values() for path in part_paths]
    on_hub = not source.path and mirror is None
    if on_hub:
        check_names(source, paths)
    check_digests(source, paths, discard=on_hub)
    return found


def _local(source: Source, name: str, part: Part, folder: Path) -> list[Path]:
    if folder.is_file() and len(source.parts) == 1:
        return [folder]
    if not folder.is_dir():
        raise SourceError(
            f"source {source.name}: {folder} is no folder; it should hold {_wanted(part)}"
        )
    for pattern in part.files:
        absolute = Path(pattern).is_absolute()
        matches = [Path(pattern)] if absolute else sorted(folder.glob(pattern))
        if files := [path for path in matches if path.is_file()]:
            return files
    there = sorted(str(p.relative_to(folder)) for p in [*folder.glob("*"), *folder.glob("*/*")])
    raise SourceError(_no_match(source, name, part, str(folder), there[:30]))


def _on_hub(source: Source, name: str, part: Part) -> list[Path]:
    if not part.hub:
        raise SourceError(
            f"source {source.name} cannot be fetched: no address of it is known"
            + (f" but {source.homepage}" if source.homepage else "")
            + f". Put its files into a folder {source.name} within a folder FOLDER and take "
            f"-S mirror=FOLDER, or give sources.{source.name}.path=FOLDER among the overrides; "
            f"the folder should hold {_wanted(part)}"
        )
    folder, there = fetch(source.name, part)
    for pattern in part.files:
        if matches := sorted(path for path in there if fnmatchcase(path, pattern)):
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
