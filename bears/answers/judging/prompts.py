"""From a case to the words that a model is told, in which an answer is data and nothing else."""

import hashlib
import json
from typing import Any

from bears.answers.judging.ruling import Case
from bears.answers.judging.settings import JudgePrompt
from bears.llm.prompt import broken

SCHEMA = {
    "type": "object",
    "properties": {
        # First, so that a model thinks before it judges.
        "reason": {"type": "string"},
        "verdict": {"type": "string", "enum": ["pass", "fail"]},
    },
    "required": ["reason", "verdict"],
    "additionalProperties": False,
}


def messages(case: Case, prompt: JudgePrompt, language: str) -> tuple[str, str]:
    """The system and the user message.

    The answer is one JSON string, so on one line, between two lines of a marker that it does not
    contain; no word of a chat template is left whole in it.
    """
    answer = _as_json(broken(case.answer))
    words = {
        "question": _as_json(broken(case.question)),
        "golds": _as_json(case.golds),
        "aliases": prompt.also.format(aliases=_as_json(case.aliases)) if case.aliases else "",
        "answer": answer,
        "marker": marker(answer),
    }
    lines = prompt.user.strip().splitlines()
    shown = (line for line in lines if case.aliases or line.strip() != "{aliases}")
    return prompt.system.format(language=language).strip(), "\n".join(shown).format(**words)


def marker(answer: str) -> str:
    """Words that do not stand in ``answer``, the same every time."""
    word = answer
    while (word := hashlib.sha256(word.encode()).hexdigest()[:16]) in answer:
        pass
    return f"=== answer {word} ==="


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
