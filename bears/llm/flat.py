"""A use that asks one question per record and keeps one reply: a `bears.llm.use.Use`.

A subclass provides its requests, the prompt, and the check of a reply. The key covers the model,
the version of the prompt and both messages, so nothing else may change the request.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic

from bears.llm.models import AskingSettings
from bears.llm.prompt import broken
from bears.llm.use import FILL, CheckedReply, KeptReplies, Needs, R, all_of, key_of
from bears.llm.wire import ChatAnswer, ChatRequest


class FlatUse(ABC, Generic[R]):
    """The shared part of all flat uses; see `bears.llm.use.Use` for the names."""

    settings: AskingSettings
    """The model, and how to ask it; a subclass is a dataclass with this field."""
    name: ClassVar[str]
    advice: ClassVar[str]
    remedy: ClassVar[str] = FILL
    """What to do if replies are missing."""
    schema: ClassVar[Mapping[str, Any] | None] = None
    most_tokens: int
    """The most tokens that a reply may have."""

    @property
    @abstractmethod
    def wanted(self) -> str:
        """Return a name for what may be missing."""

    @abstractmethod
    def requests(self) -> Iterable[R]:
        """Return all requests, in order."""

    @abstractmethod
    def version(self, request: R) -> int:
        """Return the version of the prompt."""

    @abstractmethod
    def messages(self, request: R, reasons: Sequence[str]) -> tuple[str, str]:
        """Return the system and the user message; ``reasons`` say why the last reply failed."""

    @abstractmethod
    def output_tokens(self, request: R) -> tuple[float, float]:
        """Estimate the fewest and the most tokens of a reply."""

    @abstractmethod
    def check(self, request: R, answer: ChatAnswer) -> CheckedReply:
        """Check a reply."""

    def resolve(self, known: KeptReplies) -> Needs[R]:
        """Look up every request."""
        needs = Needs[R]()
        for request in self.requests():
            needs.ask(lambda each: known.get(self.key(each), each.record_id), request)
        return needs

    def replies(self, known: KeptReplies) -> list[tuple[R, str]]:
        """Return each request with its kept reply. Raises RepliesMissing if one is missing."""
        return all_of(self.resolve(known), self.wanted, self.remedy).replies

    def key(self, request: R) -> str:
        """Return the key over the model and both messages."""
        system, user = self.messages(request, [])
        return key_of(
            {
                "use": self.name,
                "model": self.settings.model,
                "request": self.settings.request,
                "prompt_version": self.version(request),
                "system": system,
                "user": user,
            },
            # Few uses ask the same again.
            getattr(request, "repeat", 1),
        )

    def ask(self, request: R, reasons: list[str]) -> ChatRequest:
        """Build the chat request."""
        system, user = self.messages(request, reasons)
        parameters = self.settings.request
        key, most = self.key(request), self.most_tokens
        return ChatRequest(key, system, user, self.schema, most, parameters)


def shown(parts: Mapping[str, Any]) -> str:
    """Format texts as JSON in which no token of a chat template is left whole.

    So no text can close its message and continue as another role.
    """
    return broken(json.dumps(parts, ensure_ascii=False, indent=1))
