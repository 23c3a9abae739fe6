"""What can keep a request from being answered, and what each status or fault means.

A fault means one of four things: retry (`Again`), wait (`Limited`), give up this request
(`RequestRefused`), or stop the run (`RunStopped`). The messages never hold the key.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bears.errors import BearsError, FormatError
from bears.files.intake.json_text import json_value


class ClientError(BearsError):
    """A request was not answered."""


class RequestRefused(ClientError):
    """The server refuses this one request; asking again would not help.

    Args:
        reason: what it said.
        lesson: what part of the request it does not take, of `LESSONS`; may be empty.
    """

    def __init__(self, reason: str, lesson: str = "") -> None:
        super().__init__(reason)
        self.lesson = lesson


class RequestFailed(ClientError):
    """Every attempt failed in a way that might have passed."""


class RunStopped(ClientError):
    """No request can be answered until the user fixes the key, model, address or quota."""


class BudgetExhausted(ClientError):
    """The request might cost more than the budget has left."""


class Again(Exception):
    """An attempt failed in a way that may pass.

    Args:
        reason: what the server said.
        after: seconds that it asks to wait.
    """

    def __init__(self, reason: str, after: float | None = None) -> None:
        super().__init__(reason)
        self.after = after


class Limited(Again):
    """The server takes no more requests for now."""


class Lost(Again):
    """The request may have been answered, but the answer did not arrive whole."""


class Unavailable(Again):
    """The server serves nobody now, whatever is asked."""

    remedy = "Does a server run at that address?"


class Unreachable(Unavailable):
    """Nobody listens there.

    Args:
        reason: what the connection failed with.
        starting: how to start a server; may be empty.
    """

    def __init__(self, reason: str, starting: str) -> None:
        super().__init__(reason)
        self.remedy = f"{Unavailable.remedy} {starting}".strip()


MEANING: Mapping[int, type[Exception]] = {
    401: RunStopped,
    403: RunStopped,
    404: RunStopped,
    408: Again,
    409: Again,
    429: Limited,
    502: Unavailable,
    503: Unavailable,
}
"""HTTP status to what it means. Other statuses from 500 on mean `Again`, the rest
`RequestRefused`. A time-out, a lost connection and an answer that cannot be read mean `Lost`; a
refused connection means `Unreachable`."""
NO_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
"""Codes of a 429 that means `RunStopped`."""
REMEDIES = {
    401: "Look at the key, and at what it may use",
    403: "Look at the key, and at what it may use",
    404: "Look at {where}.model and {where}.base_url",
    429: "The account has no credit left",
}
SCHEMA, LIMIT = LESSONS = ("schema", "limit")
"""What a server may refuse that can be said in another way: a JSON schema, ``max_tokens``."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An error that a server tells.

    Args:
        status: of the HTTP answer.
        code: the provider's word for it.
        message: the provider's sentence.
    """

    status: int
    code: str
    message: str

    @property
    def meaning(self) -> type[Exception]:
        """What it means for the request or the run."""
        if self.status == 429 and self.code in NO_QUOTA:
            return RunStopped
        other = Again if self.status >= 500 else RequestRefused
        return MEANING.get(self.status, other)

    @property
    def passes(self) -> bool:
        """Whether the same request may be answered later."""
        return issubclass(self.meaning, Again)

    def fault(self, said: str, after: float | None, where: str) -> Exception:
        """Return the exception for it.

        Args:
            said: the message of the exception.
            after: seconds that the server asks to wait.
            where: the key of the configuration that holds the settings of the request.
        """
        meaning = self.meaning
        if issubclass(meaning, Again):
            return meaning(said, after)
        if meaning is RunStopped:
            return RunStopped(f"{said}. {REMEDIES[self.status].format(where=where)}")
        return RequestRefused(said, self._lesson())

    def _lesson(self) -> str:
        if "max_completion_tokens" in self.message:
            return LIMIT
        about_schema = any(word in self.message for word in ("response_format", "json_schema"))
        return SCHEMA if self.status == 400 and about_schema else ""

    def __str__(self) -> str:
        code = f" {self.code}" if self.code else ""
        return f"status {self.status}{code}: {self.message}"


def read_problem(status: int, content: bytes) -> Problem:
    """Read an error answer, whatever form it has."""
    try:
        body = json_value(content, "")
    except FormatError:
        return Problem(status, "", content.decode("utf-8", "replace").strip())
    return to_problem(status, body)


def to_problem(status: int, body: Any) -> Problem:
    """Read the JSON of an error."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return Problem(status, "", str(error))
    code = error.get("code") or error.get("type") or ""
    return Problem(status, str(code), str(error.get("message", "")))
