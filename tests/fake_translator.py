"""What the loopback provider answers when it plays a translator into the language `pseudo`."""

from __future__ import annotations

import json
import random
import re
import zlib
from typing import Any

from tests.pseudo import encode

_dice = random.Random(0)
_NAME = r"[A-Z][a-z]{3,}"
_QUESTION_WORDS = {"What", "When", "Where", "Which", "Whose", "Were"}


def faithful(request: dict[str, Any]) -> str:
    """Translate, keep marks, use one rendering for each term."""
    head, text = _parts(request)
    return _terms(text) if head.startswith("List the names") else _given(request, encode(text))


def forgetful(request: dict[str, Any]) -> str:
    """Translate faithfully, but lose the marks one time in three."""
    answer = faithful(request)
    return _unmarked(answer) if "⟦" in answer and _dice.random() < 1 / 3 else answer


def moody(request: dict[str, Any]) -> str:
    """Render a name in another way in every text, as models do, but where the glossary has it."""
    head, text = _parts(request)
    if head.startswith("List the names"):
        return _terms(text)
    glossary = dict(re.findall(r"^- (.+) → (.+)$", head, re.MULTILINE))
    terms = [re.escape(term) for term in sorted(glossary, key=len, reverse=True)]
    mood = chr(ord("a") + zlib.crc32(text.encode()) % 26)

    def rendered(found: re.Match[str]) -> str:
        name = found[0]
        free = name not in _QUESTION_WORDS and re.fullmatch(_NAME, name)
        return glossary.get(name) or encode(name[:-1] + mood if free else name)

    pattern = "|".join([*terms, _NAME, r"(?s:.)"])
    return _given(request, re.sub(pattern, rendered, text))


def moody_and_markless(request: dict[str, Any]) -> str:
    """The same, and no mark ever comes back."""
    return _unmarked(moody(request))


def wordless(request: dict[str, Any]) -> str:
    """Translate faithfully, but list terms that are not there, in a form that was not asked for."""
    head, _ = _parts(request)
    return "- Atlantis: ԱՏԼ" if head.startswith("List the names") else faithful(request)


def teachable(request: dict[str, Any]) -> str:
    """Chat, until told that this was refused."""
    head, text = _parts(request)
    told = "was refused" in request["messages"][0]["content"] or head.startswith("List the names")
    return faithful(request) if told else f"Sure! Here is the translation:\n\n{encode(text)}"


def unfinished(request: dict[str, Any]) -> str:
    """Forget the end of the JSON that a translation stands in."""
    answer = faithful(request)
    return answer.removesuffix("}") if '"translation"' in answer else answer


def eager(request: dict[str, Any]) -> str:
    """Mark questions, in which nothing was marked."""
    head, text = _parts(request)
    asks = head.startswith("Translate this question")
    return _given(request, f"⟦{encode(text)}⟧") if asks else faithful(request)


def formula(request: dict[str, Any]) -> str:
    """Give a spreadsheet something to run in place of one document."""
    _, text = _parts(request)
    return '=HYPERLINK("x")' if text.startswith("Vichyssoise is") else faithful(request)


def leaky(_: dict[str, Any]) -> dict[str, Any]:
    """Repeat the key where a message that is cut after 300 characters would show a part of it."""
    message = "x" * 285 + " Bearer sk-test-SECRET"
    return {"text": "", "status": 400, "body": {"error": {"message": message, "code": "leak"}}}


def plain(request: dict[str, Any]) -> str:
    """BEARS v1's way: the user's message is the text and nothing else."""
    return encode(request["messages"][-1]["content"])


def _parts(request: dict[str, Any]) -> tuple[str, str]:
    """What the user's message says of the text, and the text."""
    user = request["messages"][-1]["content"]
    head, _, text = user.partition("\n\n")
    return (head, text) if text else ("", user)


def _terms(text: str) -> str:
    names = sorted(set(re.findall(rf"\b{_NAME}\b", text)))[:8]
    return json.dumps({"terms": [{"source": name, "target": encode(name)} for name in names]})


def _given(request: dict[str, Any], translation: str) -> str:
    """The translation in the form that was asked for."""
    if "response_format" in request:
        return json.dumps({"translation": translation}, ensure_ascii=False)
    return translation


def _unmarked(answer: str) -> str:
    return answer.replace("⟦", "").replace("⟧", "")
