"""What conf/source/<name>.yaml says of a source."""

import re
from dataclasses import dataclass, field
from typing import Any

from bears.errors import ConfigurationError
from bears.language.tags import check_tag
from bears.types import Closed


@dataclass(frozen=True)
class Part(Closed):
    """One kind of file of a source: its rows, its corpus, its judgements.

    Args:
        files: glob patterns within the folder or the hub dataset; the first that matches is taken.
            ``.`` is the folder itself. ``{split}`` in them is the source's ``split``.
        hub, revision: where they are on the hub, if not where the source is.
    """

    files: tuple[str, ...]
    hub: str = ""
    revision: str = ""

    def __post_init__(self) -> None:
        _check_pin("parts", self.hub, self.revision)


@dataclass(frozen=True)
class Source(Closed):
    """One source of a benchmark, as conf/source/<name>.yaml describes it.

    Args:
        name: the word in ids and in ``source_dataset``.
        reader: dotted name of the function from its parts to rows of our own.
        language: BCP 47 tag of its texts, see `bears.language.tags`.
        licence: SPDX identifier of the texts' licence.
        hub: ``owner/name`` of a hub dataset; needs ``revision`` and ``files`` or ``parts``.
        revision: 40 hexadecimal digits of a commit; a branch or tag is refused.
        files: for a source of one kind of file, glob patterns within the hub dataset, in reading
            order; each must match.
        path: a local file instead of the hub, or the folder of ``parts``; relative to the
            project's root.
        sha256: file name to digest, for every file whose content is known.
        rows: how many rows the pinned files hold, where known.
        parts: for a source of several kinds of files, what each holds.
        split: which of its sets of questions is asked.
        settings: what its reader can be told, see there.
    """

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
        check_tag(self.language, f"sources.{self.name}.language")
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
