"""What the loopback provider answers when it plays a model that ragas asks for its four metrics."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

_asked = Counter[str]()


def judge(request: dict[str, Any]) -> str:
    """Judge by the words that two texts share; answer what is no request of ragas.

    A second sample of one request is another answer. A text that says "gibberish" is answered with
    what is no JSON, until the request says that it was none.
    """
    first, told = request["messages"][0]["content"], request["messages"][-1]["content"]
    prompts = [m["content"] for m in request["messages"] if "following input" in m["content"]]
    if not prompts:
        return "It was Ann. She came in May."
    prompt = prompts[0]
    given = json.loads(prompt.rpartition("following input\ninput: ")[2].removesuffix("Output: "))
    if "gibberish" in prompt and told == prompt:
        return "as you wish"
    _asked[prompt] += 1
    return json.dumps(_reply(given, "classifications" in first + prompt, _asked[prompt]))


def _reply(given: dict[str, Any], recall: bool, sample: int) -> dict[str, Any]:
    if "response" in given:
        # The beginning of the answer, shorter with each sample.
        words = given["response"].split()
        unsure = int("don't know" in given["response"])
        return {"question": " ".join(words[: len(words) // sample + 1]), "noncommittal": unsure}
    if "statements" in given:
        verdicts = [_judged(each, given["context"]) for each in given["statements"]]
        return {"statements": [{**each, "statement": text} for text, each in verdicts]}
    if "context" not in given:
        return {"statements": _sentences(given["answer"])}
    if recall:
        verdicts = [_judged(each, given["context"]) for each in _sentences(given["answer"])]
        return {
            "classifications": [
                {"statement": text, "reason": each["reason"], "attributed": each["verdict"]}
                for text, each in verdicts
            ]
        }
    return _judged(given["answer"], given["context"])[1]


def _judged(text: str, context: str) -> tuple[str, dict[str, Any]]:
    shared = _words(text) & _words(context)
    verdict = int(2 * len(shared) >= len(_words(text)))
    return text, {"reason": f"{len(shared)} words", "verdict": verdict}


def _sentences(text: str) -> list[str]:
    return [each.strip() for each in re.split(r"[.。]", text) if re.search(r"\w", each)]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
