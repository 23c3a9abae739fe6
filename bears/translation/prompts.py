"""From a request to the words that a model is told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bears.translation.translator import TranslationRequest
from bears.types import Closed


def _object(**properties: Any) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


STRING = {"type": "string"}
TRANSLATION_SCHEMA = _object(translation=STRING)
TERMS_SCHEMA = _object(terms={"type": "array", "items": _object(source=STRING, target=STRING)})


@dataclass(frozen=True)
class PromptTemplate(Closed):
    """One conf/prompt/<name>.yaml; ``name`` and ``version`` enter every key.

    Args:
        system: said first; may name the language's fragments in braces.
        terms, question, gold_answer, content: said for a text of that field; may name {text},
            {glossary} and {question} besides.
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
    """The system and the user message.

    Args:
        request: what to translate.
        prompt: how to say it.
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
        # Not beside the text: a small model translates the reasons too.
        told = "; ".join(reasons)
        system += (
            f"\n\nYour last translation of this text was refused: {told}. Mend that, silently."
        )
    return system, "\n".join(lines).strip().format(**words)


def _only_an_empty_part(line: str, words: Mapping[str, str]) -> bool:
    name = line.strip()
    return name[:1] == "{" and not words.get(name[1:-1], name)
