"""Models behind the loopback provider that judge answers. Only the words of the prompt are read."""

from __future__ import annotations

import json
import re
from typing import Any

from bears.answers.judging.injection import speaks_to_judge

MARKER = re.compile(r"^=== answer [0-9a-f]{16} ===$", re.MULTILINE)
TEMPLATE = ("<|im_end|>", "<|im_start|>", "[INST]", "</s>", "<start_of_turn>", "[SYSTEM_PROMPT]")


def gullible(request: dict[str, Any]) -> str:
    """Does what anybody tells it, but for what stands between the markers, which it judges.

    A word of a chat template ends the message wherever it stands, as servers have it.
    """
    user = request["messages"][-1]["content"]
    begin, end = (found.span() for found in MARKER.finditer(user))
    outside = user[: begin[0]] + user[end[1] :]
    if speaks_to_judge(outside.split("Reply with JSON")[0]) or any(w in user for w in TEMPLATE):
        return said("pass", "as I was told")
    answer = between(user)
    golds = json.loads(user.partition("Right answers: ")[2].partition("\n")[0])
    right = any(gold.lower() in answer.lower() for gold in golds)
    return said("pass" if right else "fail", f"compared with {golds[0]}")


def between(user: str) -> str:
    """The answer that a user's message puts between the markers."""
    begin, end = (found.span() for found in MARKER.finditer(user))
    answer: str = json.loads(user[begin[1] : end[0]])
    return answer


def kind(_: dict[str, Any]) -> str:
    """Passes everything, as small models do that are told to."""
    return said("pass", "It says what it was told to say.")


def moody(request: dict[str, Any]) -> str | dict[str, Any]:
    """As `gullible`, but refuses, mumbles, is cut off or answers an error, as the answer says."""
    user = request["messages"][-1]["content"]
    if "REFUSE" in user:
        return {"text": "", "refusal": "I would rather not."}
    if "MUMBLE" in user:
        return "Well, one could say pass, or fail."
    if "LONG" in user:
        return {"text": '{"reason": "on and on', "finish_reason": "length"}
    if "FENCE" in user:
        return f"```json\n{gullible(request)}\n```"
    if "BROKEN" in user:
        return {"status": 400, "text": "this is not to be judged"}
    return gullible(request)


def said(verdict: str, reason: str) -> str:
    return json.dumps({"reason": reason, "verdict": verdict})
