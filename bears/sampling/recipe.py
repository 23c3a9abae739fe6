"""What to sample: the composition of a benchmark, as conf/benchmark/<name>.yaml gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import ConfigDict

from bears.configuration import STRICT
from bears.errors import ConfigurationError


@dataclass(frozen=True)
class Share:
    """How many questions come from one source."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    source: str
    questions: int


@dataclass(frozen=True)
class Recipe:
    """The composition of a benchmark.

    Args:
        sampler: ``bears``; ``bears-v1`` for the origin's sampler with its defects; or
            ``bears-published`` for that and the author's corrections by hand.
        seed: of the one random generator that every step shares.
        documents: size of the pool.
        sources: questions per source, in the order of the output.
        negatives: sources whose unused paragraphs fill the pool, in the order they are listed.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    sampler: Literal["bears", "bears-v1", "bears-published"]
    seed: int
    documents: int
    sources: tuple[Share, ...]
    negatives: tuple[str, ...]

    def __post_init__(self) -> None:
        names = [share.source for share in self.sources]
        if not names or len(set(names)) != len(names):
            raise ConfigurationError(f"sample.sources: {names}; expected each source once")
        for share in self.sources:
            if share.questions < 1:
                raise ConfigurationError(
                    f"sample.sources: {share.source} has questions={share.questions}; "
                    "expected at least 1"
                )
        if self.documents < 1:
            raise ConfigurationError(f"sample.documents is {self.documents}; expected at least 1")
