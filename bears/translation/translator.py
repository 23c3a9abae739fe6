"""What to translate, the prompt for it, and the key that follows from both."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from typing_extensions import TypedDict

from bears.errors import ConfigurationError
from bears.language.profile import Language
from bears.llm.models import AskingSettings
from bears.llm.shape import Shape
from bears.llm.use import key_of
from bears.types import ForbidsExtra

NAME = "translation"
"""The name of this use of a model."""

Field = Literal["question", "gold_answer", "content", "terms"]


@dataclass(frozen=True, slots=True)
class TranslationRequest:
    """One text to translate.

    Args:
        record_id: the question or document that it belongs to.
        field: which of its fields it is.
        source_language: BCP 47 tag of ``text``.
        text: the source text.
        context: what else the prompt contains, such as a slice of the glossary.
    """

    record_id: str
    field: Field
    source_language: str
    text: str
    context: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Translator:
    """The part of a translator's settings that can change a text.

    Args:
        name: of the file under conf/translator.
        request: model, parameters, prompt version and whatever else can change a text.
        target: BCP 47 tag of the target language.
    """

    name: str
    request: Mapping[str, Any]
    target: str

    def key(self, request: TranslationRequest) -> str:
        """Return the key over translator, languages, field, source text and context."""
        content = {
            "translator": self.name,
            "request": self.request,
            "target": self.target,
            "source_language": request.source_language,
            "field": request.field,
            "text": request.text,
        }
        return key_of(content | ({"context": request.context} if request.context else {}))


class TranslationReply(TypedDict):
    """A model's translation of one text."""

    translation: str


class TermReply(TypedDict):
    """A term and its rendering."""

    source: str
    target: str


class TermsReply(TypedDict):
    """A model's terms of one bundle."""

    terms: list[TermReply]


TRANSLATION, TERMS = Shape(TranslationReply), Shape(TermsReply)


@dataclass(frozen=True)
class PromptTemplate(ForbidsExtra):
    """One conf/prompt/<name>.yaml; ``name`` and ``version`` enter every key.

    Args:
        name: of the file.
        version: raise it when a text changes.
        system: the system message; may name the language's fragments in braces.
        terms, question, gold_answer, content: the user message for a text of that field; may also
            name {text}, {glossary} and {question}.
    """

    name: str
    version: int
    system: str
    terms: str
    question: str
    gold_answer: str
    content: str


def messages(
    request: TranslationRequest,
    prompt: PromptTemplate,
    fragments: Mapping[str, str],
    reasons: Sequence[str],
) -> tuple[str, str]:
    """Return the system and the user message.

    Args:
        request: what to translate.
        prompt: the templates.
        fragments: title, native_name, variant, names and numbers of the target language.
        reasons: why earlier translations of this request were refused.
    """
    template = getattr(prompt, request.field)
    pairs = [f"- {source} → {target}" for source, target in request.context.get("glossary", ())]
    words = dict(fragments) | {
        "text": request.text,
        "question": str(request.context.get("question", "")),
        "glossary": "\n".join(["Glossary:", *pairs] if pairs else []),
    }
    lines = [line for line in template.splitlines() if not _only_an_empty_part(line, words)]
    system = prompt.system.format(**fragments).strip()
    if reasons:
        # Not next to the text: a small model would translate the reasons too.
        why = "; ".join(reasons)
        system += "\n\nYour last translation of this text was refused: "
        system += f"{why}. Mend that, silently."  # prompt
    return system, "\n".join(lines).strip().format(**words)


def _only_an_empty_part(line: str, words: Mapping[str, str]) -> bool:
    name = line.strip()
    return name[:1] == "{" and not words.get(name[1:-1], name)


@dataclass(frozen=True, kw_only=True)
class TranslatorSettings(AskingSettings):
    """How to translate. See conf/endpoint/openai.yaml for the meaning of each field.

    ``model`` is empty if texts come from a published set or from people.
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
        """Return what enters the keys. The name of a config with a model does not change a text."""
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
    """Return the texts about the target language that prompts contain."""
    names = {"title": language.title, "native_name": language.native_name}
    return names | asdict(language.prompt)
