"""Rewriters that need no model: earlier turns, and rules of a language."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bears.errors import ConfigurationError
from bears.language.tags import primary
from bears.types import Asked, Closed, Question


@dataclass(frozen=True)
class Turns(Closed):
    """The rewriter that joins messages.

    Args:
        method: the ``last`` message only, with the ``user``'s earlier ones, or ``all`` turns.
    """

    name: str
    method: Literal["last", "user", "all"]

    def asked(self, question: Question) -> Asked:
        """Return the search for a question; there always is one."""
        earlier = [
            turn.content
            for turn in question.turns
            if self.method == "all" or (self.method == "user" and turn.role == "user")
        ]
        return Asked(question.question_id, "\n".join([*earlier, question.question]), search=True)


LONGEST = 200
"""Characters of a message that rules look at; a longer message is not small talk and does not
lean on others."""


@dataclass(frozen=True)
class Conversation(Closed):
    """The rules of a language: regular expressions, which ignore case.

    Args:
        fillers: beginnings of words; a message of nothing but such words is small talk.
        small_talk: signs of a message that needs no document.
        asks: signs of a request.
        statements: signs of chat in a message without a request.
        leans: signs of a message that needs the messages before it.
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
                raise ConfigurationError(
                    f"{pattern!r} is not a regular expression: {error}"
                ) from None

    def is_small_talk(self, message: str) -> bool:
        """Return whether a message needs no document."""
        if len(message) > LONGEST:
            return False
        words = re.findall(r"\w+", message)
        return (
            all(any(re.match(pattern, word, re.I) for pattern in self.fillers) for word in words)
            or _found(self.small_talk, message)
            or (_found(self.statements, message) and not _found(self.asks, message))
        )

    def leans_back(self, message: str) -> bool:
        """Return whether a message needs the messages before it."""
        return len(message) <= LONGEST and _found(self.leans, message)

    def asked(self, question: Question) -> Asked:
        """Return the search for a question: none for small talk, else the last message.

        The user's earlier messages are put before it as long as the first one leans on another.
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
    """The rewriter by rules.

    Args:
        languages: primary subtag of each language, to its rules.
    """

    name: str
    method: Literal["rules"]
    languages: Mapping[str, Conversation]

    def of(self, language: str) -> Conversation:
        """Return the rules of a language. Raises ConfigurationError if it has no rules."""
        rules = self.languages.get(primary(language))
        if rules is None:
            raise ConfigurationError(
                f"the rewriter {self.name} has no rules for {language}, the benchmark's language; "
                f"it has rules for {', '.join(self.languages)}. Choose another rewriter, or write "
                f"conf/conversation/{primary(language)}.yaml and name it in "
                "conf/rewriter/rules.yaml"
            )
        return rules
