"""From a request to the words that a model is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import ConfigDict

from bears.configuration import STRICT
from bears.translation.memory import Request

TRANSLATION_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"translation": {"type": "string"}},
    "required": ["translation"],
    "additionalProperties": False,
}
TERMS_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "terms": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"source": {"type": "string"}, "target": {"type": "string"}},
                "required": ["source", "target"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["terms"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Prompt:
    """One conf/prompt/<name>.yaml; ``name`` and ``version`` enter every key.

    Args:
        system: said first; may name the language's fragments in braces.
        terms, question, gold_answer, content: said for a text of that field; may name {text},
            {glossary} and {question} besides.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    name: str
    version: int
    system: str
    terms: str
    question: str
    gold_answer: str
    content: str


def messages(
    request: Request, prompt: Prompt, fragments: Mapping[str, str], reasons: Sequence[str]
) -> tuple[str, str]:
    """The system and the user message.

    Args:
        request: what to translate.
        prompt: how to say it.
        fragments: title, native_name, variant, names and numbers of the target language.
        reasons: why earlier translations of this request were refused.
    """
    template = getattr(prompt, request.field)
    words = dict(fragments) | {
        "text": request.text,
        "question": str(request.context.get("question", "")),
        "glossary": _glossary(request.context.get("glossary", ())),
    }
    lines = [line for line in template.splitlines() if not _only_an_empty_part(line, words)]
    # Not beside the text: a small model translates the reasons too.
    system = prompt.system.format(**fragments).strip() + _again(reasons)
    return system, "\n".join(lines).strip().format(**words)


def _only_an_empty_part(line: str, words: Mapping[str, str]) -> bool:
    name = line.strip()
    return name[:1] == "{" and not words.get(name[1:-1], name)


def _glossary(pairs: Sequence[Sequence[str]]) -> str:
    if not pairs:
        return ""
    return "Glossary:\n" + "\n".join(f"- {source} → {target}" for source, target in pairs)


def _again(reasons: Sequence[str]) -> str:
    if not reasons:
        return ""
    told = "; ".join(reasons)
    return f"\n\nYour last translation of this text was refused: {told}. Mend that, silently."
