"""What the loopback provider answers when it is asked to read a translation."""

from __future__ import annotations

import json
from typing import Any


def said(*remarks: tuple[str, str, str]) -> str:
    return json.dumps(
        {"remarks": [dict(zip(("kind", "source", "translation"), r, strict=True)) for r in remarks]}
    )


def shown(request: dict[str, Any]) -> dict[str, str]:
    """The source and the translation, which are all that the user's message holds."""
    pair: dict[str, str] = json.loads(request["messages"][-1]["content"])
    assert pair.keys() == {"source", "translation"}
    return pair


def diligent(request: dict[str, Any]) -> str:
    """Finds the first word of a question changed, and says as much of words that stand nowhere."""
    pair = shown(request)
    source, translation = pair["source"].split("\n")[0], pair["translation"]
    if "?" not in source:
        return said()
    return said(("changed", source.split()[0], translation[:2]), ("lost", "Xanadu", ""))


def bad(request: dict[str, Any]) -> Any:
    """What no memory should hold, until told why; each length of a source gets another of it."""
    if "was not taken" in request["messages"][0]["content"]:
        return diligent(request)
    answers: list[Any] = [
        "All is well.",
        '{"remarks": "none"}',
        '{"remarks": [{"kind": "worse", "source": "", "translation": ""}]}',
        '{"remarks": [{"kind": "lost"}]}',
        {"text": said(), "finish_reason": "length"},
        {"text": "", "refusal": "I would rather not."},
        "[" * 3000,
        '{"remarks": [{"kind": "lost", "source": "\ud83d", "translation": ""}]}',
    ]
    return answers[len(shown(request)["source"]) % len(answers)]
