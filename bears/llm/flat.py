"""A use that asks one question for each record and keeps one reply: a `bears.llm.use.Use`.

The use brings its requests, the words, and the check of a reply. The key covers the model, the
version of the prompt and the words, so nothing else may change what is asked.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic

from bears.llm.kept import PublishedMemory
from bears.llm.prompt import broken
from bears.llm.settings import AskingSettings
from bears.llm.use import FILL, CheckedReply, Needs, R, all_of
from bears.llm.wire import ChatAnswer, ChatRequest


class FlatUse(ABC, Generic[R]):
    """What is the same for all flat uses; see `bears.llm.use.Use` for the names."""

    settings: AskingSettings
    """The model, and how it is asked; a subclass is a dataclass with this field."""
    name: ClassVar[str]
    advice: ClassVar[str]
    remedy: ClassVar[str] = FILL
    """What to do where replies are missing."""
    schema: ClassVar[Mapping[str, Any] | None] = None
    most_tokens: int
    """The most tokens that a reply may have."""

    @property
    @abstractmethod
    def wanted(self) -> str:
        """What may be missing."""

    @abstractmethod
    def requests(self) -> Iterable[R]:
        """Return what is asked, in order."""

    @abstractmethod
    def version(self, request: R) -> int:
        """Return the version of the prompt."""

    @abstractmethod
    def messages(self, request: R, reasons: Sequence[str]) -> tuple[str, str]:
        """Return the system's and the user's words, with why the last reply was not taken."""

    @abstractmethod
    def output_tokens(self, request: R) -> tuple[float, float]:
        """Return the least and the most tokens of a reply in practice."""

    @abstractmethod
    def check(self, request: R, answer: ChatAnswer) -> CheckedReply:
        """Say what is wrong with a reply."""

    def resolve(self, known: PublishedMemory) -> Needs[R]:
        """Look every request up."""
        needs = Needs[R]()
        for request in self.requests():
            needs.ask(lambda each: known.get(self.key(each), each.record_id), request)
        return needs

    def replies(self, known: PublishedMemory) -> list[tuple[R, str]]:
        """Return each request with its kept reply. Raises MemoryMiss where one is missing."""
        return all_of(self.resolve(known), self.wanted, self.remedy).replies

    def key(self, request: R) -> str:
        """Return the key over the model and all that it is told."""
        words = self.messages(request, [])
        return self.settings.key_of_said(self.name, self.version(request), *words)

    def ask(self, request: R, reasons: list[str]) -> ChatRequest:
        """Return what is sent."""
        system, user = self.messages(request, reasons)
        parameters = self.settings.request
        key, most = self.key(request), self.most_tokens
        return ChatRequest(key, system, user, self.schema, most, parameters)


def shown(parts: Mapping[str, Any]) -> str:
    """Return texts as JSON without words of chat templates.

    So no text can end where it stands and go on as something else.
    """
    return broken(json.dumps(parts, ensure_ascii=False, indent=1))
