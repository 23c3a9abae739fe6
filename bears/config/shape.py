"""What every configuration and pipeline has, whatever was chosen and added."""

from typing import Annotated, Any, NotRequired

from pydantic import StringConstraints
from typing_extensions import TypedDict

Name = Annotated[str, StringConstraints(pattern=r"^\w[\w.-]*$")]
"""A file's name: paths are made of it."""
Part = dict[str, Any]


class Chosen(TypedDict):
    """A choice of a group."""

    name: Name


class BenchmarkPart(Chosen):
    """The benchmark; the names are in its conf/benchmark/NAME.yaml."""

    language: str
    accept: list[Part]
    date_published: str
    cite_as: str


class MixturePart(TypedDict):
    """How the benchmark is drawn; its sampler knows the rest."""

    sampler: str
    sources: NotRequired[list[Part]]


class SourcePart(TypedDict):
    """A source; `bears.sources` knows the rest."""

    language: str
    licence: str


class Evaluate(TypedDict):
    """What is measured."""

    measures: list[str]


class Headline(TypedDict):
    """The figures that DVC shows, of rankings and of answers."""

    retrieval: list[str]
    answers: list[str]


class Configuration(TypedDict):
    """The keys that `compose` gives, and ``ledger``."""

    benchmark: BenchmarkPart
    retriever: Chosen
    vector_store: Chosen
    chunking: Chosen
    engine: Chosen
    questioner: Chosen
    translator: Chosen
    reader: Chosen
    rewriter: Chosen
    generator: Chosen
    judge: Chosen
    language: Chosen
    mirror: str | None
    retrieve: Part
    evaluate: Evaluate
    headline: Headline
    sample: MixturePart
    sources: dict[Name, SourcePart]
    gates: dict[str, str]
    bundle_gates: dict[str, str]


class Stage(TypedDict):
    """What dvc.yaml says of a stage."""

    cmd: str
    deps: list[str]
    params: NotRequired[list[str | dict[str, list[str]]]]
    outs: NotRequired[list[str | dict[str, Part]]]


class Pipeline(TypedDict):
    """dvc.yaml, as far as a stage reads it."""

    stages: dict[str, Stage]
