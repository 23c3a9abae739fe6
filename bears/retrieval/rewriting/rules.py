"""The ways to ask without a model: turns as they are, and the rules of a language."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bears.errors import ConfigurationError
from bears.language.tags import primary
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


LONGEST = 200
"""Characters of a message that rules look at; none that is longer is small talk, or leans."""


@dataclass(frozen=True)
class Conversation(Closed):
    """How messages of a language are read; all are regular expressions, found without case.

    Args:
        fillers: how words begin of which a message may wholly consist that says nothing.
        small_talk: what makes a message one that needs no document.
        asks: what asks for something.
        statements: what is said to be talked about, where nothing is asked.
        leans: what shows that a message is not understood without those before it.
    """

    fillers: tuple[str, ...]
    small_talk: tuple[str, ...]
    asks: tuple[str, ...]
    statements: tuple[str, ...]
    leans: tuple[str, ...]

    def __post_init__(self) -> None:
        for pattern in (*self.fillers, *self.small_talk, *self.asks, *self.statements, *self.leans):
            try:
                re.compile(pattern)
            except re.error as error:
                raise ConfigurationError(f"{pattern!r} is no regular expression: {error}") from None

    def is_small_talk(self, message: str) -> bool:
        """Whether a message needs no document."""
        if len(message) > LONGEST:
            return False
        words = re.findall(r"\w+", message)
        return (
            all(any(re.match(pattern, word, re.I) for pattern in self.fillers) for word in words)
            or _found(self.small_talk, message)
            or (_found(self.statements, message) and not _found(self.asks, message))
        )

    def leans_back(self, message: str) -> bool:
        """Whether a message is not understood without those before it."""
        return len(message) <= LONGEST and _found(self.leans, message)

    def asked(self, question: Question) -> Asked:
        """What is searched: nothing for small talk, else the last message.

        The user's earlier messages go before it as far back as they lean on those before them.
        """
        messages = [question.question]
        if self.is_small_talk(question.question):
            return Asked(question.question_id, "", search=False)
        for turn in reversed(question.turns):
            if turn.role == "user":
                if not self.leans_back(messages[0]):
                    break
                messages.insert(0, turn.content)
        return Asked(question.question_id, "\n".join(messages), search=True)


def _found(patterns: tuple[str, ...], text: str) -> bool:
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns)


@dataclass(frozen=True)
class Rules(Closed):
    """The rewriter that asks no model.

    Args:
        languages: primary subtag to the rules of the language.
    """

    name: str
    method: Literal["rules"]
    languages: Mapping[str, Conversation]

    def of(self, language: str) -> Conversation:
        """The rules of a language. Raises ConfigurationError where there are none."""
        found = self.languages.get(primary(language))
        if found is None:
            raise ConfigurationError(
                f"the rewriter {self.name} has no rules of {language}, the benchmark's language; "
                f"it has those of {', '.join(self.languages)}. Choose another rewriter, or write "
                f"conf/conversation/{primary(language)}.yaml and name it in "
                "conf/rewriter/rules.yaml"
            )
        return found
