"""A text to translate, who translates it, and the key that follows from both."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bears.llm.kept import key_of

NAME = "translation"
"""Of this use of the memory."""

Field = Literal["question", "gold_answer", "content", "terms"]


@dataclass(frozen=True, slots=True)
class TranslationRequest:
    """One text to translate.

    Args:
        record_id: the question or document that it belongs to.
        field: which of its fields it is.
        source_language: BCP 47 tag of ``text``.
        text: the source text.
        context: what else is said with it, such as its slice of the glossary.
    """

    record_id: str
    field: Field
    source_language: str
    text: str
    context: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Translator:
    """Who translates, as far as it can change a text.

    Args:
        name: of the file under conf/translator.
        request: model, parameters, prompt version and whatever else can change a text.
        target: BCP 47 tag of the language that is translated into.
    """

    name: str
    request: Mapping[str, Any]
    target: str

    def key(self, request: TranslationRequest) -> str:
        """Over translator, languages, field, source text and context, if there is one."""
        content = {
            "translator": self.name,
            "request": self.request,
            "target": self.target,
            "source_language": request.source_language,
            "field": request.field,
            "text": request.text,
        }
        return key_of(content | ({"context": request.context} if request.context else {}))
