"""What is asked of every retriever alike, as ``retrieve`` in the configuration has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import ConfigDict

from bears.configuration import STRICT
from bears.errors import ConfigurationError
from bears.types import Question, Ranking


@dataclass(frozen=True)
class Retrieval:
    """How questions are asked.

    Args:
        depth: documents a question.
        turns: what of a conversation is asked: its ``last`` question alone, the ``user``'s turns,
            or ``all`` of them.
        score_threshold: documents of a lower score are left out, so that a question may get
            none; null: none is.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    depth: int
    turns: Literal["last", "user", "all"]
    score_threshold: float | None

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise ConfigurationError(f"retrieve.depth is {self.depth}; expected at least 1")

    def text(self, question: Question) -> str:
        """What is asked."""
        earlier = [
            turn.content
            for turn in question.turns
            if self.turns == "all" or (self.turns == "user" and turn.role == "user")
        ]
        return "\n".join([*earlier, question.question])

    def kept(self, ranking: Ranking) -> Ranking:
        """The hits that reach the threshold."""
        lowest = self.score_threshold
        return ranking if lowest is None else tuple(h for h in ranking if h.score >= lowest)
