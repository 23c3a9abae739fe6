"""What stands in conf/prompt: words that a model is told, with names in braces."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from string import Formatter

from bears.errors import ConfigurationError
from bears.types import Closed

_BEGINNING = re.compile(
    r"<(?=[|｜]|/?(s|bos|eos|pad|unk|start_of|end_of|think|tool)\w*>)"
    r"|\[(?=/?(INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_\w+|gMASK)\])"
)


def broken(text: str) -> str:
    """``text`` with a space after the bracket of each such word, so that none is left whole."""
    return _BEGINNING.sub(lambda found: f"{found[0]} ", text)


def check_names(where: str, template: str, known: Collection[str]) -> None:
    """Hold the names in a template against those that will be filled in.

    Args:
        where: what an error calls it.

    Raises:
        ConfigurationError: another name stands in braces, or a brace alone.
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
class SystemPrompt(Closed):
    """One conf/prompt/<name>.yaml; its version and what is said enter every key.

    Args:
        system: said first; may name {title} and {native_name} of a language.
    """

    name: str
    version: int
    system: str

    def __post_init__(self) -> None:
        check_names(f"prompt {self.name}, system", self.system, ("title", "native_name"))
