"""One conf/reader/<name>.yaml that asks a model."""

from dataclasses import dataclass
from typing import ClassVar

from bears.llm.prompt import SystemPrompt
from bears.llm.settings import AskingSettings


@dataclass(frozen=True, kw_only=True)
class ReaderSettings(AskingSettings):
    """How a model reads translations. See conf/endpoint/openai.yaml for what each field means."""

    where: ClassVar[str] = "reader"

    prompt: SystemPrompt
