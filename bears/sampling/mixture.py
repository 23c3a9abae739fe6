"""How a benchmark is drawn, as conf/benchmark/<name>.yaml says, and its composition."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bears.config.typed import build
from bears.errors import ConfigurationError
from bears.files.intake.yaml_text import table_of
from bears.types import ForbidsExtra, Positive

BEFORE: dict[str, str] = table_of(__file__)
"""The words of earlier versions for the samplers."""


def sampler_of(sample: Mapping[str, Any]) -> Any:
    """Return the sampler that ``sample`` describes.

    Raises:
        ConfigurationError: the description is wrong.
    """
    return build(sample, "sample", "bears")


def as_before(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``sample`` as earlier versions wrote it, so that digests of it stay the same."""
    words = {target: word for word, target in reversed(BEFORE.items())}
    settings = {name: part for name, part in sample.items() if name != "_target_"}
    target = sample.get("_target_")
    return {"sampler": words.get(target, target), **settings} if target else settings


@dataclass(frozen=True)
class Quota(ForbidsExtra):
    """How many questions come from one source."""

    source: str
    questions: Positive


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
    documents: Positive
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
