"""The shapes that a source may have, the check of its description, and what it reads."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bears.config.shape import Part, Source
from bears.config.typed import named
from bears.errors import ConfigurationError
from bears.files.intake.yaml_text import table_of
from bears.language.tags import check_tag
from bears.sources import beir, passage_rows, squad
from bears.sources.folder.fields import NEVER_GUESSED, ROLES
from bears.sources.folder.read import read_own
from bears.sources.pairs import WORDS as PAIRS
from bears.sources.pairs import read_pairs
from bears.sources.parts import Reader
from bears.sources.rows import Words


@dataclass(frozen=True)
class SourceShape:
    """How rows are laid out.

    Args:
        read: from the files of a source to its records.
        words: our words for its fields and their usual names, to which ``fields`` of a source adds.
        layout: the tables of a shape that has several, and the patterns of their files.
    """

    read: Reader
    words: Words
    layout: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


BEIR = table_of(__file__)
OWN = {"folder": (".",)}
SHAPES = {
    "squad": SourceShape(squad.read_squad, squad.WORDS),
    "multi-hop": SourceShape(passage_rows.multi_hop, passage_rows.MULTI_HOP),
    "qa-with-passages": SourceShape(passage_rows.with_passages, passage_rows.WITH_PASSAGES),
    "pairs": SourceShape(read_pairs, PAIRS),
    "beir": SourceShape(beir.read_beir, beir.WORDS, BEIR),
    "own": SourceShape(read_own, dict.fromkeys((*ROLES, *NEVER_GUESSED), ()), OWN),
}


VALIDATION = ("validation", "dev", "val", "valid")
"""Names of the same split."""


def checked(source: Source) -> Source:
    """Return a source whose settings fit together. Raises ConfigurationError."""
    where = f"source {source.name}"
    check_tag(source.language, f"sources.{source.name}.language")
    if bool(source.shape) == bool(source.reader) or source.shape not in ("", *SHAPES):
        raise ConfigurationError(
            f"{where}: shape is {source.shape!r}; give either a reader or a shape: "
            f"{', '.join(SHAPES)}"
        )
    layout = layout_of(source)
    if not layout and bool(source.path) == bool(source.hub):
        raise ConfigurationError(f"{where}: give either hub or path")
    if source.revision or (source.reader and source.hub):
        check_pin(where, source.revision)
    for name, part in source.parts.items():
        if part.hub or part.revision:
            check_pin(f"{where}, part {name}", part.revision)
    if source.shape == "beir" and not source.split:
        raise ConfigurationError(f"{where}: give the split of its judgements, such as test")
    if layout and source.limit:
        raise ConfigurationError(
            f"{where}: limit is {source.limit}, but a part of a benchmark is a different "
            "benchmark; for a quick run set sample.max_docs"
        )
    return source


def layout_of(source: Source) -> dict[str, Part]:
    """Return the parts of a source that has several, with the patterns of their files."""
    usual = SHAPES[source.shape].layout if source.shape else {}
    parts = {name: Part(patterns) for name, patterns in usual.items()}
    own = {name: part for name, part in source.parts.items() if part.files}
    return _whole(source, parts | own)


def on_hub(source: Source) -> dict[str, Part]:
    """Return the parts to read from the hub, one for each pattern of ``files``."""
    return _whole(source, source.parts or {pattern: Part((pattern,)) for pattern in source.files})


def _whole(source: Source, parts: dict[str, Part]) -> dict[str, Part]:
    """Return parts with the split, hub and revision of the source filled in."""
    return {
        name: replace(
            part,
            files=tuple(pattern.replace("{split}", source.split) for pattern in part.files),
            hub=part.hub or source.hub,
            revision=part.revision or source.revision,
        )
        for name, part in parts.items()
    }


def reader_of(source: Source) -> Reader:
    """Return the function that reads a source. Raises what `checked` raises."""
    checked(source)
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
