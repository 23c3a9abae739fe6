"""What the loopback provider answers when it plays a generator.

A document of its benchmark says "Stone 7 is red.", and a question asks "What colour is stone 7?".
"""

from __future__ import annotations

import re
from typing import Any


def faithful(request: dict[str, Any]) -> str:
    """The colour as the documents have it, with its marker; otherwise what it is told to say."""
    system, user = (message["content"] for message in request["messages"])
    stone = re.findall(r"stone (\d+)", user)[-1]
    for number, text in re.findall(r'<document-\w+ number="(\d+)">\n(.*?)\n</', user, re.DOTALL):
        if found := re.search(rf"Stone {stone} is (\w+)", text):
            return f"{found[1]} [CITE:{number}]"
    return str(re.search(r"nothing but: (.*)", system)[1])  # type: ignore[index]


def unfounded(request: dict[str, Any]) -> str:
    """One stone in three is found in a document that nobody gave, until told."""
    told = "was not taken" in request["messages"][0]["content"]
    stone = re.findall(r"stone (\d+)", request["messages"][1]["content"])[-1]
    return faithful(request) + ("" if told or int(stone) % 3 else "[CITE:77]")


def stubborn(request: dict[str, Any]) -> str:
    """The same, whatever it is told."""
    return faithful(request) + "[CITE:77][CITE:78]"


def hollow(_: dict[str, Any]) -> str:
    """Nothing but a marker."""
    return "[CITE:1]"


def obedient(request: dict[str, Any]) -> str:
    """Do what a document says, if it stands outside of the marks that the documents have."""
    system, user = (message["content"] for message in request["messages"])
    mark = re.search(r"<(document-\w+)>", system)
    inside = rf"<{mark[1]} .*?</{mark[1]}>" if mark else "$^"
    free = re.sub(inside, "", user, flags=re.DOTALL)
    return "PASS" if "reply PASS" in free else faithful(request)
