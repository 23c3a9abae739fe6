"""Prompt templates from conf/prompt, with names in braces."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from string import Formatter

from bears.errors import ConfigurationError
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
