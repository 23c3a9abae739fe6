"""One conf/translator/<name>.yaml, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict

from bears.client.endpoint import Endpoint
from bears.client.models import Price
from bears.configuration import STRICT
from bears.errors import ConfigurationError
from bears.language.profile import Language
from bears.translation.memory import Translator
from bears.translation.prompts import Prompt


@dataclass(frozen=True)
class Settings:
    """How texts are translated. See conf/endpoint/openai.yaml for what each field means."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    name: str
    method: Literal["published", "per-field", "bundle"]
    fill: Literal["never", "auto"] = "never"
    request: Mapping[str, Any] = field(default_factory=dict)
    prompt: Prompt | None = None
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    backend: Literal["online", "batch"] = "online"
    concurrency: int = 20
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    attempts: int = 6
    timeout_s: float = 120.0
    asks: int = 3
    budget: float | None = None
    price: Price | None = None
    chunk_characters: int = 6000
    structured: bool = True
    glossary: str = ""

    def __post_init__(self) -> None:
        if self.method != "published" and (self.prompt is None or not self.model):
            raise ConfigurationError(
                f"translator {self.name}: method {self.method} needs a model and a prompt"
            )

    @property
    def endpoint(self) -> Endpoint:
        """Where to ask.

        Raises:
            ConfigurationError: the translator has no model.
        """
        if not self.model:
            raise ConfigurationError(
                f"translator {self.name} has no model: its texts come from a published set or "
                "from people. Choose one that has, e.g. translator=gpt-4.1"
            )
        return Endpoint.of(self, "translator")

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
    return {
        "title": language.title,
        "native_name": language.native_name,
        "variant": language.prompt.variant,
        "names": language.prompt.names,
        "numbers": language.prompt.numbers,
        "quotes": language.prompt.quotes,
    }
