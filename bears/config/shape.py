"""The shape of every configuration and pipeline, whatever was selected and added."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, NotRequired

from pydantic import GetCoreSchemaHandler, StringConstraints
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_after_validator_function
from typing_extensions import TypedDict

from bears.config.typed import Keys

Name = Annotated[str, StringConstraints(pattern=r"^\w[\w.-]*$")]
"""A file's name: paths are made of it."""
Part = dict[str, Any]
OPEN = {"extra": "allow"}


class _Named(TypedDict):
    """What every choice has."""

    __pydantic_config__ = OPEN  # type: ignore[misc]
    name: Name


class Unparsed(dict[str, Any]):
    """Settings that are checked as far as `known` goes, and parsed or built where they are used."""

    known: ClassVar[type[Any]]

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(cls, handler(cls.known))

    def word(self, key: str) -> str:
        """Return the text under ``key``, or an empty one."""
        return str(self.get(key) or "")


class Choice(Unparsed):
    """A choice of a group, such as one conf/retriever/<name>.yaml."""

    known = _Named

    @property
    def name(self) -> str:
        """Return its name."""
        return self.word("name")


class Sampling(Unparsed):
    """How a benchmark is drawn; its sampler knows the rest."""

    known = Part


@dataclass(frozen=True, slots=True)
class BenchmarkName(Keys):
    """The name of the benchmark."""

    name: Name


@dataclass(frozen=True, slots=True)
class BenchmarkLanguage(Keys):
    """The language of the benchmark's texts."""

    language: str


@dataclass(frozen=True, slots=True)
class BenchmarkIdentity(BenchmarkName):
    """The name of the benchmark and the language of its texts."""

    language: str


@dataclass(frozen=True, slots=True)
class BenchmarkSettings(BenchmarkIdentity):
    """The whole of ``benchmark``: conf/benchmark/<name>.yaml."""

    accept: list[Part]
    date_published: str
    cite_as: str


@dataclass(frozen=True, slots=True)
class LanguageName(Keys):
    """The tag of a language."""

    name: str


@dataclass(frozen=True, slots=True)
class LanguageNames(LanguageName):
    """The tag of a language, and its names in English and in the language."""

    title: str
    native_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOrigin:
    """The settings of a source that identify its set of questions."""

    name: str = ""
    path: str = ""
    split: str = ""


def source_of(sources: Mapping[str, SourceOrigin]) -> str:
    """Return what a benchmark of a single source reads: the folder or source, and the split.

    The name of a benchmark with several sources says it all: return nothing.
    """
    if len(sources) != 1:
        return ""
    (source,) = sources.values()
    return ", ".join(filter(None, (PurePath(source.path).name or source.name, source.split)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings(SourceOrigin):
    """The settings of a source that later stages read; `bears.sources` knows the rest."""

    language: str
    licence: str


@dataclass(frozen=True, slots=True)
class EvaluateSettings:
    """The measures of a run, and the one that orders systems; exports leave it out."""

    measures: list[str]
    main: str = "ndcg@10"


@dataclass(frozen=True, slots=True)
class HeadlineSettings:
    """The figures that DVC shows, of rankings and of answers."""

    retrieval: list[str]
    answers: list[str]


@dataclass(frozen=True, slots=True)
class Configuration(Keys):
    """The keys that `compose` gives, besides ``ledger`` and ``written_in``."""

    benchmark: BenchmarkSettings
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
    passages: Part
    retrieve: Part
    evaluate: EvaluateSettings
    headline: HeadlineSettings
    sample: Sampling
    sources: dict[Name, SourceSettings]
    gates: dict[str, str]
    bundle_gates: dict[str, str]


class Stage(TypedDict):
    """The definition of a stage in dvc.yaml."""

    cmd: str
    deps: list[str]
    params: NotRequired[list[str | dict[str, list[str]]]]
    outs: NotRequired[list[str | dict[str, Part]]]


class Pipeline(TypedDict):
    """The part of dvc.yaml that a stage reads."""

    stages: dict[str, Part]
