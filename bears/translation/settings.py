"""One conf/translator/<name>.yaml, and what follows from it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from bears.client.endpoint import Endpoint
from bears.client.models import Models, Price
from bears.errors import ConfigurationError
from bears.language.profile import Language
from bears.translation.memory import Translator
from bears.translation.prompts import PromptTemplate


@dataclass(frozen=True, kw_only=True)
class TranslatorSettings(Endpoint):
    """How texts are translated. See conf/endpoint/openai.yaml for what each field means.

    ``model`` is empty where texts come from a published set or from people.
    """

    name: str
    method: Literal["published", "per-field", "bundle"]
    fill: Literal["never", "auto"] = "never"
    request: Mapping[str, Any] = field(default_factory=dict)
    prompt: PromptTemplate | None = None
    model: str = ""
    backend: Literal["online", "batch"] = "online"
    asks: int = 3
    budget: float | None = None
    chunk_characters: int = 6000
    structured: bool = True
    glossary: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method != "published" and (self.prompt is None or not self.model):
            raise ConfigurationError(
                f"translator {self.name}: method {self.method} needs a model and a prompt"
            )

    def price_in(self, models: Models) -> Price:
        """What tokens cost.

        Raises:
            ConfigurationError: the translator has no model, or nobody knows its price.
        """
        if not self.model:
            raise ConfigurationError(
                f"translator {self.name} has no model: its texts come from a published set or "
                "from people. Choose one that has, e.g. translator=gpt-4.1"
            )
        price = super().price_in(models)
        return price.in_batches() if self.backend == "batch" else price

    def translator(self, language: Language) -> Translator:
        """What enters the keys. The name of a config that asks a model changes no text."""
        if self.prompt is None:
            return Translator(self.name, self.request, language.name)
        request = {
            "model": self.model,
            **self.request,
            "prompt": self.prompt.name,
            "prompt_version": self.prompt.version,
            "language": fragments(language),
        }
        return Translator(self.method, request, language.name)


def fragments(language: Language) -> dict[str, str]:
    """What prompts say of the target language."""
    names = {"title": language.title, "native_name": language.native_name}
    return names | asdict(language.prompt)
