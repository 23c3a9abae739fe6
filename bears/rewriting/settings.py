"""One conf/rewriter/<name>.yaml that asks a model."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from bears.errors import ConfigurationError
from bears.memory.settings import AskingSettings
from bears.types import Closed


@dataclass(frozen=True)
class RewritePrompt(Closed):
    """One conf/prompt/<name>.yaml; its version and what is said enter every key.

    Args:
        system: said first; may name {title} and {native_name} of the documents' language.
    """

    name: str
    version: int
    system: str

    def __post_init__(self) -> None:
        try:
            self.system.format(title="", native_name="")
        except (LookupError, ValueError, AttributeError) as error:
            raise ConfigurationError(
                f"prompt {self.name}: {error!r}; system may name {{title}} and {{native_name}}; a "
                "brace is written {{ or }}"
            ) from None


@dataclass(frozen=True, kw_only=True)
class RewriterSettings(AskingSettings):
    """How conversations are rewritten. See conf/endpoint/openai.yaml for what each field means."""

    where: ClassVar[str] = "rewriter"

    method: Literal["model"]
    prompt: RewritePrompt

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.model:
            raise ConfigurationError(f"rewriter {self.name}: method model needs a model")
