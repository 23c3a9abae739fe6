"""Reading a model's verdict; what cannot be read is no verdict."""

import re
from contextlib import suppress

from bears.answers.judging.ruling import Ruling
from bears.answers.judging.settings import kept
from bears.errors import FormatError
from bears.files.intake.json_text import json_value
from bears.llm.use import CheckedReply
from bears.llm.wire import ChatAnswer

_PLAIN = re.compile(r"\bverdict\b\W{0,8}(pass|fail)\b", re.IGNORECASE)


def checked(answer: ChatAnswer) -> CheckedReply:
    """What is kept of a model's reply: its verdict; or unscored and why, to be asked for again."""
    ruling = read_ruling(answer.text)
    if answer.refusal or answer.finish_reason == "content_filter":
        problem = "the model refused"
    elif answer.finish_reason == "length":
        problem = "the reply was cut off"
    elif ruling is None:
        problem = "the reply has no verdict that can be read"
    else:
        return CheckedReply(kept(ruling.verdict, ruling.reason), [], [])
    return CheckedReply(kept("unscored", problem), [], [problem])


def read_ruling(text: str) -> Ruling | None:
    """A verdict in JSON, or in plain words; none where another one is said beside it."""
    with suppress(FormatError, ValueError):
        start, end = text.index("{"), text.rindex("}") + 1
        ruling = _ruling(json_value(text[start:end].encode(), "verdict"))
        # The JSON may be quoted from the answer that is judged.
        beside = _said(f"{text[:start]}\n{text[end:]}")
        return ruling if ruling and beside <= {ruling.verdict} else None
    said = _said(text)
    return _ruling({"verdict": said.pop(), "reason": ""}) if len(said) == 1 else None


def _said(text: str) -> set[str]:
    return {word.lower() for word in _PLAIN.findall(text)}


def _ruling(value: object) -> Ruling | None:
    if not isinstance(value, dict):
        return None
    verdict, reason = value.get("verdict"), value.get("reason", "")
    word = verdict.strip().lower() if isinstance(verdict, str) else ""
    if word not in ("pass", "fail"):
        return None
    return Ruling("pass" if word == "pass" else "fail", reason if isinstance(reason, str) else "")
