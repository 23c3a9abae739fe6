"""The composition of a sampled benchmark, as conf/benchmark/<name>.yaml gives it."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from bears.errors import ConfigurationError
from bears.types import ForbidsExtra


@dataclass(frozen=True)
class Quota(ForbidsExtra):
    """How many questions come from one source."""

    source: str
    questions: Annotated[int, Field(ge=1)]


@dataclass(frozen=True)
class Mixture(ForbidsExtra):
    """The composition of a benchmark.

    Args:
        seed: seed of the one random generator that every step shares.
        documents: size of the pool.
        sources: questions per source, in the order of the output.
        negatives: sources whose unused paragraphs fill the pool, in the order they are listed.
    """

    seed: int
    documents: Annotated[int, Field(ge=1)]
    sources: tuple[Quota, ...]
    negatives: tuple[str, ...]

    def __post_init__(self) -> None:
        names = [quota.source for quota in self.sources]
        if not names or len(set(names)) != len(names):
            raise ConfigurationError(f"sample.sources: {names}; expected each source once")


class Recipe(Mixture):
    """Draws questions and fills a pool."""


class V1Recipe(Mixture):
    """Draws as BEARS v1 did, with its defects."""


class PublishedRecipe(V1Recipe):
    """Draws as BEARS v1 did, with the corrections that its author made by hand."""
