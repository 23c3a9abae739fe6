"""The shape of every configuration, whatever was selected and added, and of each source in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import GetCoreSchemaHandler, StringConstraints
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_after_validator_function
from typing_extensions import TypedDict

from bears.types import ForbidsExtra, Positive

OnBadRow = Literal["stop", "skip"]
Name = Annotated[str, StringConstraints(pattern=r"^\w[\w.-]*$")]
"""A file's name: paths are made of it."""
OPEN = {"extra": "allow"}


@dataclass(frozen=True)
class Part(ForbidsExtra):
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
class Source(ForbidsExtra):
    """One source of a benchmark, as conf/source/<name>.yaml describes it.

    Args:
        name: the word in ids and in ``source_dataset``.
        language: BCP 47 tag of its texts, see `bears.language.tags`.
        licence: SPDX identifier of the texts' licence.
        shape: how its rows are laid out, see `bears.sources.source`; or else ``reader``, the
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
    limit: Positive | None = None
    on_bad_row: OnBadRow = "stop"
    settings: dict[str, Any] = field(default_factory=dict)

    def pin_of(self, path: PurePath | str) -> str:
        """Return the longest name in ``sha256`` that fits a file, or an empty text."""
        place = f"/{PurePath(path).as_posix()}"
        return max(
            (name for name in self.sha256 if place.endswith(f"/{name}")), key=len, default=""
        )


def source_of(sources: Mapping[str, Source]) -> str:
    """Return what a benchmark of a single source reads: the folder or source, and the split.

    The name of a benchmark with several sources says it all: return nothing.
    """
    if len(sources) != 1:
        return ""
    (source,) = sources.values()
    return ", ".join(filter(None, (PurePath(source.path).name or source.name, source.split)))


Section = dict[str, Any]


class _Named(TypedDict):
    """What every choice has."""

    __pydantic_config__ = OPEN  # type: ignore[misc]
    name: Name


class Choice(dict[str, Any]):
    """A choice of a group, such as one conf/retriever/<name>.yaml.

    Only its name is checked; the rest is parsed or built where it is used.
    """

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(cls, handler(_Named))

    @property
    def name(self) -> str:
        """Return its name."""
        return self.word("name")

    def word(self, key: str) -> str:
        """Return the text under ``key``, or an empty one."""
        return str(self.get(key) or "")


@dataclass(frozen=True, slots=True)
class BenchmarkIdentity:
    """What names a benchmark.

    Args:
        name: its name.
        language: of its texts.
        form: of the file in which its task takes results; empty if it has none of its own.
    """

    name: Name
    language: str
    form: Literal["", "pandachat", "science-ko"] = ""


@dataclass(frozen=True, slots=True)
class WrittenIn(ForbidsExtra):
    """What prompts say about the language of the benchmark's texts."""

    name: str
    title: str
    native_name: str
    variant: str
    unanswerable: str


@dataclass(frozen=True, slots=True)
class HeadlineSettings:
    """The figures that DVC shows, of rankings and of answers."""

    retrieval: list[str]
    answers: list[str]


@dataclass(frozen=True, slots=True)
class Configuration:
    """The keys that conf/ gives to every configuration, without those of single rooms."""

    benchmark: BenchmarkIdentity
    retriever: Choice
    vector_store: Choice
    chunking: Choice
    engine: Choice
    questioner: Choice
    translator: Choice
    rewriter: Choice
    generator: Choice
    judge: Choice
    language: Choice
    mirror: str | None
    passages: Section
    retrieve: Section
    evaluate: Section
    headline: HeadlineSettings
    sample: Section
    sources: dict[Name, Source]
    gates: dict[str, str]
    bundle_gates: dict[str, str]
