"""One conf/generator/<name>.yaml."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import PositiveInt

from bears.answers.prompts import AnswerPrompt
from bears.config.typed import build
from bears.errors import ConfigurationError
from bears.llm.models import AskingSettings

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
    """What is shown to a generator. See conf/endpoint/openai.yaml for further fields.

    Args:
        context: the documents of the run, the gold documents, or none.
        within: use the run in which a question with a group of documents is asked of that group
            alone.
        documents: how many to show at most.
        tokens: how many these may have together; see `bears.answers.shown.show`.
        answer_tokens: how many an answer may have, including hidden reasoning.
        prompt: of the model.
        repeats: how often each question is answered.
    """

    where: ClassVar[str] = "generator"

    context: Literal["retrieved", "gold", "none"] = "retrieved"
    within: bool = False
    documents: PositiveInt = 5
    tokens: PositiveInt = 6000
    answer_tokens: PositiveInt = 1024
    prompt: AnswerPrompt | None = None
    repeats: PositiveInt = 1

    def given_up(self, reasons: Sequence[str]) -> str:
        """Return the kept reply to a question that the server refuses."""
        return given_up(reasons)


@dataclass(frozen=True, kw_only=True)
class ModelGenerator(GeneratorSettings):
    """A model that answers."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prompt is None or not self.model:
            raise ConfigurationError(f"generator {self.name} needs a model and a prompt")


@dataclass(frozen=True, kw_only=True)
class SentenceGenerator(GeneratorSettings):
    """The baseline of `bears.answers.answered`: no model, and always the same answer."""

    model: Literal[""] = ""
    repeats: Literal[1] = 1


def generator_of(chosen: Mapping[str, Any]) -> Any:
    """Return the generator that one conf/generator/<name>.yaml describes.

    Raises:
        ConfigurationError: the description is wrong.
    """
    return build(chosen, "generator", "bears.answers")
