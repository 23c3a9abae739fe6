"""A use that asks one question per record, by a template of conf/prompt, and keeps one reply.

A subclass provides its requests, the prompt, and the check of a reply. The key covers the model,
the version of the prompt and both messages, so nothing else may change the request.
"""

import json
import re
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any, ClassVar

from bears.errors import ConfigurationError
from bears.llm.use import FILL, KeptReplies, Needs, R, Use, all_of, key_of
from bears.llm.wire import ChatRequest
from bears.types import ForbidsExtra

_BEGINNING = re.compile(
    r"<(?=[|｜]|/?(s|bos|eos|pad|unk|start_of|end_of|think|tool)\w*>)"
    r"|\[(?=/?(INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_\w+|gMASK)\])"
)


def broken(text: str) -> str:
    """Insert a space into every token of a chat template, so that none is left whole."""
    return _BEGINNING.sub(lambda found: f"{found[0]} ", text)


def check_names(where: str, template: str, known: Collection[str]) -> None:
    """Check the names in a template.

    Args:
        where: the name of the template, for the message.
        template: the text.
        known: the names that will be filled in.

    Raises:
        ConfigurationError: there is another name in braces, or a single brace.
    """
    try:
        parts = [part for part in Formatter().parse(template) if part[1] is not None]
    except ValueError as error:
        raise ConfigurationError(f"{where}: {error}; a brace is written {{{{ or }}}}") from None
    for _, name, width, conversion in parts:
        if name not in known or width or conversion:
            raise ConfigurationError(
                f"{where} names {{{name}}}; expected one of {', '.join(sorted(known))}, in braces "
                "and with nothing else in them; a brace is written {{ or }}"
            )


@dataclass(frozen=True)
class SystemPrompt(ForbidsExtra):
    """One conf/prompt/<name>.yaml; its version and its text enter every key.

    Args:
        name: of the file.
        version: raise it when the text changes.
        system: the system message; may name {title} and {native_name} of a language.
    """

    name: str
    version: int
    system: str

    def __post_init__(self) -> None:
        check_names(f"prompt {self.name}, system", self.system, ("title", "native_name"))


class FlatUse(Use[R]):
    """The shared part of all flat uses. A subclass is a dataclass."""

    remedy: ClassVar[str] = FILL
    """What to do if replies are missing."""
    schema: ClassVar[Mapping[str, Any] | None] = None
    most_tokens: int
    """The most tokens that a reply may have."""

    @abstractmethod
    def requests(self) -> Iterable[R]:
        """Return all requests, in order."""

    @abstractmethod
    def version(self, request: R) -> int:
        """Return the version of the prompt."""

    @abstractmethod
    def messages(self, request: R) -> tuple[str, str]:
        """Return the system and the user message."""

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
        system, user = self.messages(request)
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
        system, user = self.messages(request)
        if reasons:
            why = "; ".join(reasons)
            system += f"\n\nYour last answer was not taken: {why}. Mend that, silently."  # prompt
        parameters = self.settings.request
        key, most = self.key(request), self.most_tokens
        return ChatRequest(key, system, user, self.schema, most, parameters)


def shown(parts: Mapping[str, Any]) -> str:
    """Format texts as JSON in which no token of a chat template is left whole.

    So no text can close its message and continue as another role.
    """
    return broken(json.dumps(parts, ensure_ascii=False, indent=1))
