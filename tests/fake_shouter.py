"""What the loopback provider answers when it is asked for words in capitals."""

from __future__ import annotations

from typing import Any


def shout(request: dict[str, Any]) -> str:
    """What is wanted."""
    text: str = request["messages"][-1]["content"]
    return text.upper()


def mumble(request: dict[str, Any]) -> str:
    """One capital is all that words with a b get."""
    return shout(request) if "b" not in shout(request).lower() else shout(request).capitalize()


def halve(request: dict[str, Any]) -> str:
    """Half of a surrogate pair more than is wanted, until told."""
    told = request["messages"][0]["role"] == "system"
    return shout(request) + ("" if told else "\ud83d")


def broken(request: dict[str, Any]) -> str:
    """Shout, with what a broken tokeniser leaves."""
    return f"{shout(request)}\x00"
