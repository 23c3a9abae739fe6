"""What the loopback provider answers when it plays a translator into the language `pseudo`."""

from __future__ import annotations

import json
import random
import re
from typing import Any

from bears.language.pseudo import encode

_dice = random.Random(0)


def faithful(request: dict[str, Any]) -> str:
    """Translate, keep marks, use one rendering for each term."""
    user = request["messages"][-1]["content"]
    head, _, text = user.partition("\n\n")
    if head.startswith("List the names"):
        names = sorted(set(re.findall(r"\b[A-Z][a-z]{3,}\b", text)))[:8]
        return json.dumps({"terms": [{"source": name, "target": encode(name)} for name in names]})
    translation = encode(text or user)
    if "response_format" in request:
        return json.dumps({"translation": translation}, ensure_ascii=False)
    return translation


def forgetful(request: dict[str, Any]) -> str:
    """Translate faithfully, but lose the marks one time in three."""
    answer = faithful(request)
    if "⟦" in answer and _dice.random() < 1 / 3:
        answer = answer.replace("⟦", "").replace("⟧", "")
    return answer


def plain(request: dict[str, Any]) -> str:
    """BEARS v1's way: the user's message is the text and nothing else."""
    return encode(request["messages"][-1]["content"])


