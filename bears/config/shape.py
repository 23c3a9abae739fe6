"""The shape of every configuration, whatever was selected and added."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import GetCoreSchemaHandler, StringConstraints
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_after_validator_function
from typing_extensions import TypedDict

from bears.config.source import Source
from bears.types import ForbidsExtra

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
class BenchmarkIdentity:
    """The name of the benchmark and the language of its texts."""

    name: Name
    language: str


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
    passages: Part
    retrieve: Part
    evaluate: Part
    headline: HeadlineSettings
    sample: Sampling
    sources: dict[Name, Source]
    gates: dict[str, str]
    bundle_gates: dict[str, str]
