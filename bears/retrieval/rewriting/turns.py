"""Rewriters that need no model: they join the messages of a conversation."""

from dataclasses import dataclass
from typing import Literal

from bears.types import ForbidsExtra, Question, RewrittenQuestion


@dataclass(frozen=True)
class Turns(ForbidsExtra):
    """The rewriter that joins messages.

    Args:
        method: the ``last`` message only, with the ``user``'s earlier ones, or ``all`` turns.
    """

    name: str
    method: Literal["last", "user", "all"]

    def asked(self, question: Question) -> RewrittenQuestion:
        """Return the search for a question; there always is one."""
        earlier = [
            turn.content
            for turn in question.turns
            if self.method == "all" or (self.method == "user" and turn.role == "user")
        ]
        return RewrittenQuestion(
            question.question_id, "\n".join([*earlier, question.question]), search=True
        )
