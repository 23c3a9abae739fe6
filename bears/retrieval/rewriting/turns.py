"""The plain ways to ask: turns as they stand, joined by line ends."""

from dataclasses import dataclass
from typing import Literal

from bears.types import Asked, Closed, Question


@dataclass(frozen=True)
class Turns(Closed):
    """What of a conversation is asked.

    Args:
        method: its ``last`` message alone, also the ``user``'s earlier ones, or ``all`` turns.
    """

    name: str
    method: Literal["last", "user", "all"]

    def asked(self, question: Question) -> Asked:
        """What is searched; every question is."""
        earlier = [
            turn.content
            for turn in question.turns
            if self.method == "all" or (self.method == "user" and turn.role == "user")
        ]
        return Asked(question.question_id, "\n".join([*earlier, question.question]), search=True)
