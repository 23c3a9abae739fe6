"""One conf/translator/<name>.yaml, and what follows from it."""

from dataclasses import asdict, dataclass
from typing import Literal

from bears.errors import ConfigurationError
from bears.language.profile import Language
from bears.llm.settings import AskingSettings
from bears.translation.prompts import PromptTemplate
from bears.translation.translator import Translator


@dataclass(frozen=True, kw_only=True)
class TranslatorSettings(AskingSettings):
    """How texts are translated. See conf/endpoint/openai.yaml for what each field means.

    ``model`` is empty where texts come from a published set or from people.
    """

    method: Literal["published", "per-field", "bundle"]
    prompt: PromptTemplate | None = None
    chunk_characters: int = 6000
    structured: bool = True
    glossary: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method != "published" and (self.prompt is None or not self.model):
            raise ConfigurationError(
                f"translator {self.name}: method {self.method} needs a model and a prompt"
            )

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
