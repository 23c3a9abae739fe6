"""What the loopback provider answers when it is asked to rewrite a question."""

from __future__ import annotations

import json
from typing import Any


def rewrite(request: dict[str, Any]) -> str:
    """The first earlier message before the last one; small talk is what begins with Hello."""
    shown = json.loads(request["messages"][-1]["content"])
    last, earlier = shown["last_message"], [turn["content"] for turn in shown["earlier"]]
    if last.startswith("Hello"):
        return json.dumps({"search": False, "standalone_query": ""})
    return json.dumps({"search": True, "standalone_query": " ".join([*earlier[:1], last])})


def bad(request: dict[str, Any]) -> Any:
    """What no memory should hold, until told why; each question gets another of them."""
    system, shown = (
        request["messages"][0]["content"],
        json.loads(request["messages"][-1]["content"]),
    )
    if "was not taken" in system:
        return rewrite(request)
    answers: list[Any] = [
        "I would search for tea.",
        '{"search": "perhaps", "standalone_query": "tea"}',
        '{"search": true, "standalone_query": " \\u200b"}',
        '{"search": true}',
        json.dumps({"search": True, "standalone_query": "tea " * 500}),
        {"text": rewrite(request), "finish_reason": "length"},
        {"text": "", "refusal": "I cannot help with that."},
        json.dumps({"search": True, "standalone_query": "0123456789"}),
        "[" * 3000,
        '{"search": true, "standalone_query": "tea \ud83d"}',
    ]
    return answers[int(shown["last_message"].split()[0]) % len(answers)]


def fenced(request: dict[str, Any]) -> str:
    """As models answer that were given no schema."""
    return f"```json\n{rewrite(request)}\n```"


def torn(request: dict[str, Any]) -> str:
    """Nothing is to be searched, and this is what: as a small model says of every question."""
    return rewrite(request).replace("true", "false")
