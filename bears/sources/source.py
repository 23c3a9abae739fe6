"""The description of a source in conf/source/<name>.yaml."""

import re
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Annotated, Any

from pydantic import Field

from bears.config.typed import named
from bears.errors import ConfigurationError
from bears.language.tags import check_tag
from bears.sources.parts import OnBadRow, Reader
from bears.sources.shapes import SHAPES
from bears.types import Closed

VALIDATION = ("validation", "dev", "val", "valid")
"""Names of the same split."""


@dataclass(frozen=True)
class Part(Closed):
    """One kind of table of a source: its rows, its corpus, its judgements.

    Args:
        files: glob patterns within the folder or the hub dataset; the first that matches is taken.
            ``.`` is the folder itself. ``{split}`` in them is the source's ``split``. Empty: all
            files of a configuration and split of the hub.
        hub, revision: where they are on the hub, if not where the source is.
        config, split: the names by which the hub lists the files.
    """

    files: tuple[str, ...] = ()
    hub: str = ""
    revision: str = ""
    config: str = ""
    split: str = ""


@dataclass(frozen=True)
class Source(Closed):
    """One source of a benchmark, as conf/source/<name>.yaml describes it.

    Args:
        name: the word in ids and in ``source_dataset``.
        language: BCP 47 tag of its texts, see `bears.language.tags`.
        licence: SPDX identifier of the texts' licence.
        shape: how its rows are laid out, see `bears.sources.shapes`; or else ``reader``, the
            dotted name of the function from its parts to records.
        fields: our words for the fields of that shape to the names that they have here, if those
            are not among the names that the shape knows.
        hub: ``owner/name`` of a hub dataset.
        revision: 40 hexadecimal digits of a commit; a branch or tag is refused. Empty: the commit
            of the main branch when it is first asked, which is recorded. A ``reader`` needs one.
        config: which of the hub's configurations is read. In the shape ``beir`` their names begin
            or end with it, if a dataset has several languages.
        split: which of its sets of questions is read; not needed if there is one.
        files: glob patterns within the hub dataset, in reading order; each must match. Empty: the
            library `datasets` lists the files of ``config`` and ``split``.
        path: a local file or folder instead of the hub; relative to the project's root.
        ir_dataset: a dataset of ir_datasets instead, such as ``beir/nfcorpus/test``, in the shape
            ``beir``.
        sha256: file name to digest, for every file whose content is known. Files of the same name
            need some of their folders too (``corpus/test.parquet``).
        rows: how many rows the pinned files hold, if known.
        parts: for a source of several kinds of tables, what each holds.
        limit: the most rows to read of each table, the first ones; on the hub, of its first file.
            Not for the shapes that are benchmarks already.
        on_bad_row: stop at the first row that cannot be used, or skip such rows and report them.
        settings: the settings of its reader, see there.
    """

    name: str
    language: str
    licence: str
    shape: str = ""
    reader: str = ""
    fields: dict[str, str] | None = None
    hub: str = ""
    revision: str = ""
    config: str = ""
    split: str = ""
    files: tuple[str, ...] = ()
    path: str = ""
    ir_dataset: str = ""
    sha256: dict[str, str] = field(default_factory=dict)
    rows: int | None = None
    homepage: str = ""
    parts: dict[str, Part] = field(default_factory=dict)
    limit: Annotated[int, Field(ge=1)] | None = None
    on_bad_row: OnBadRow = "stop"
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        where = f"source {self.name}"
        check_tag(self.language, f"sources.{self.name}.language")
        if bool(self.shape) == bool(self.reader) or self.shape not in ("", *SHAPES):
            raise ConfigurationError(
                f"{where}: shape is {self.shape!r}; give either a reader or a shape: "
                f"{', '.join(SHAPES)}"
            )
        if not self.layout and bool(self.path) == bool(self.hub):
            raise ConfigurationError(f"{where}: give either hub or path")
        if self.revision or (self.reader and self.hub):
            check_pin(where, self.revision)
        for name, part in self.parts.items():
            if part.hub or part.revision:
                check_pin(f"{where}, part {name}", part.revision)
        if self.reader and self.hub and not self.files and not self.parts:
            raise ConfigurationError(f"{where}: hub needs files, e.g. [data/*.parquet]")
        if self.shape == "own" and self.hub:
            raise ConfigurationError(f"{where}: shape own needs a path instead of hub")
        if self.shape == "beir" and not self.split:
            raise ConfigurationError(f"{where}: give the split of its judgements, such as test")
        if self.layout and self.limit:
            raise ConfigurationError(
                f"{where}: limit is {self.limit}, but a part of a benchmark is a different "
                "benchmark; for a quick run set sample.max_docs"
            )

    def pin_of(self, path: PurePath | str) -> str:
        """Return the longest name in ``sha256`` that fits a file, or an empty text."""
        place = f"/{PurePath(path).as_posix()}"
        return max(
            (name for name in self.sha256 if place.endswith(f"/{name}")), key=len, default=""
        )

    @property
    def layout(self) -> dict[str, Part]:
        """Return the parts of a source that has several, with the patterns of their files."""
        usual = SHAPES[self.shape].layout if self.shape else {}
        parts = {name: Part(patterns) for name, patterns in usual.items()}
        return self._whole(parts | {name: part for name, part in self.parts.items() if part.files})

    @property
    def on_hub(self) -> dict[str, Part]:
        """Return the parts to read from the hub, one for each pattern of ``files``."""
        return self._whole(self.parts or {pattern: Part((pattern,)) for pattern in self.files})

    def _whole(self, parts: dict[str, Part]) -> dict[str, Part]:
        """Return parts with the split, hub and revision of the source filled in."""
        return {
            name: replace(
                part,
                files=tuple(pattern.replace("{split}", self.split) for pattern in part.files),
                hub=part.hub or self.hub,
                revision=part.revision or self.revision,
            )
            for name, part in parts.items()
        }


def reader_of(source: Source) -> Reader:
    """Return the function that reads a source. Raises ConfigurationError."""
    if source.shape:
        return SHAPES[source.shape].read
    reader: Reader = named(source.reader, "bears.sources", f"sources.{source.name}.reader")
    return reader


def same_split(name: str) -> tuple[str, ...]:
    """Return a split and its other names."""
    return (name, *(other for other in VALIDATION if name in VALIDATION and other != name))


def check_pin(where: str, revision: str) -> None:
    """Raise ConfigurationError for a revision that can move."""
    if not re.fullmatch(r"[0-9a-f]{40}", revision):
        raise ConfigurationError(
            f"{where}: revision is {revision!r}; expected the 40 hexadecimal "
            "digits of a commit, since a branch or tag can change under your numbers"
        )
