"""One conf/generator/<name>.yaml."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from bears.answers.prompts import AnswerPrompt
from bears.errors import ConfigurationError
from bears.llm.settings import AskingSettings

GIVEN_UP = "[GIVEN UP]"
LONGEST_REASON = 300


def given_up(reasons: Sequence[str]) -> str:
    """Return the kept reply to a question that the model refuses."""
    return f"{GIVEN_UP} {' '.join('; '.join(reasons).split())[:LONGEST_REASON]}"


def why_given_up(reply: str) -> str:
    """Return why a question was given up, from its kept reply; empty if that is an answer."""
    return reply.removeprefix(GIVEN_UP).strip() if reply.startswith(GIVEN_UP) else ""


@dataclass(frozen=True, kw_only=True)
class GeneratorSettings(AskingSettings):
    """The settings of a generator. See conf/endpoint/openai.yaml for further fields.

    Args:
        method: a model, or the baseline of `bears.answers.sentence`.
        context: the documents of the run, the gold documents, or none.
        within: use the run in which a question with a group of documents is asked of that group
            alone.
        documents: how many to show at most.
        tokens: how many these may have together; see `bears.answers.shown.show`.
        answer_tokens: how many an answer may have, including hidden reasoning.
        prompt: of the model.
    """

    where: ClassVar[str] = "generator"

    method: Literal["model", "sentence"]
    context: Literal["retrieved", "gold", "none"] = "retrieved"
    within: bool = False
    documents: int = 5
    tokens: int = 6000
    answer_tokens: int = 1024
    prompt: AnswerPrompt | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method == "model" and (self.prompt is None or not self.model):
            raise ConfigurationError(
                f"generator {self.name}: method model needs a model and a prompt"
            )
        if self.method == "sentence" and self.model:
            raise ConfigurationError(
                f"generator {self.name} has method sentence, which needs no model, and the model "
                f"{self.model!r:.80}; remove one of them"
            )
        for name in ("documents", "tokens", "answer_tokens"):
            if (value := getattr(self, name)) < 1:
                raise ConfigurationError(f"generator.{name} is {value}; expected 1 or more")

    def given_up(self, reasons: Sequence[str]) -> str:
        """Return the kept reply to a question that the server refuses."""
        return given_up(reasons)
