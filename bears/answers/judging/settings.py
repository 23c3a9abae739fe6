"""One conf/judge/<name>.yaml of a judge that is a model."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from bears.errors import ConfigurationError
from bears.language.tags import primary
from bears.llm.prompt import check_names
from bears.llm.settings import AskingSettings
from bears.types import Closed

OTHER = "other"
LONGEST_REASON = 300


@dataclass(frozen=True)
class JudgePrompt(Closed):
    """One conf/prompt/judge-….yaml; all of it enters every key.

    Args:
        system: the system message; may name {language}.
        user: names {question}, {golds}, {aliases}, {answer} and {marker}.
        also: the line {aliases} of ``user``, if there are aliases.
    """

    name: str
    version: int
    system: str
    user: str
    also: str

    def __post_init__(self) -> None:
        words = ("question", "golds", "aliases", "answer", "marker")
        check_names(f"prompt {self.name}, system", self.system, ("language",))
        check_names(f"prompt {self.name}, user", self.user, words)
        check_names(f"prompt {self.name}, also", self.also, ("aliases",))
        if missing := [f"{{{word}}}" for word in words if f"{{{word}}}" not in self.user]:
            raise ConfigurationError(
                f"prompt {self.name}: user lacks {', '.join(missing)}; a judge needs them"
            )


@dataclass(frozen=True, kw_only=True)
class JudgeSettings(AskingSettings):
    """The settings of a judge that is a model; see conf/endpoint/openai.yaml for its fields.

    Args:
        prompts: primary subtag of a language to the prompt for its answers; ``other`` for all
            other languages.
    """

    where: ClassVar[str] = "judge"
    prompts: Mapping[str, JudgePrompt]

    def __post_init__(self) -> None:
        super().__post_init__()
        if OTHER not in self.prompts:
            raise ConfigurationError(f"judge {self.name}: prompts has no {OTHER!r}")

    def prompt(self, language: str) -> JudgePrompt:
        """Return the prompt for answers in a language."""
        return self.prompts.get(primary(language)) or self.prompts[OTHER]

    def given_up(self, reasons: Sequence[str]) -> str:
        """Return the reply to publish after failed requests: unscored, never a fail."""
        return kept("unscored", f"not judged: {'; '.join(reasons)}")


def kept(verdict: str, reason: str) -> str:
    """Return the kept reply of a verdict: canonical JSON, the reason on one line."""
    short = " ".join(reason.split())[:LONGEST_REASON]
    found = {"reason": short, "verdict": verdict}
    return json.dumps(found, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
