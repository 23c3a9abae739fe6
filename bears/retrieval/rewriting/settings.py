"""One conf/rewriter/<name>.yaml that asks a model."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from bears.errors import ConfigurationError
from bears.llm.replies.prompt import SystemPrompt
from bears.llm.replies.settings import AskingSettings


@dataclass(frozen=True, kw_only=True)
class RewriterSettings(AskingSettings):
    """How conversations are rewritten. See conf/endpoint/openai.yaml for what each field means."""

    where: ClassVar[str] = "rewriter"

    method: Literal["model"]
    prompt: SystemPrompt

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.model:
            raise ConfigurationError(f"rewriter {self.name}: method model needs a model")
