"""One conf/reader/<name>.yaml that asks a model."""

from dataclasses import dataclass
from typing import ClassVar

from bears.errors import ConfigurationError
from bears.memory.settings import AskingSettings
from bears.types import Closed


@dataclass(frozen=True)
class ReadingPrompt(Closed):
    """One conf/prompt/<name>.yaml; its version and what is said enter every key.

    Args:
        system: said first; may name {title} and {native_name} of the target language.
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
class ReaderSettings(AskingSettings):
    """How a model reads translations. See conf/endpoint/openai.yaml for what each field means."""

    where: ClassVar[str] = "reader"

    prompt: ReadingPrompt
