"""Why a request has no reply, and what each HTTP status means.

A fault means one of four things: retry (`Again`), wait (`RateLimited`), give up this request
(`RequestRefused`), or stop the run (`RunStopped`). The messages never contain the API key.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bears.errors import BearsError, FormatError
from bears.files.intake.json_text import json_value


class ClientError(BearsError):
    """A request has no reply."""


class RequestRefused(ClientError):
    """The server refuses this one request; asking again would not help."""


class SchemaRefused(RequestRefused):
    """The server refuses the JSON schema of the request, which the text can hold too."""


class RequestFailed(ClientError):
    """Every attempt failed in a way that might have been temporary."""


class RunStopped(ClientError):
    """No request can be answered until the user fixes the key, model, address or quota."""


class BudgetExhausted(ClientError):
    """The request might cost more than is left of the budget."""


class Again(Exception):
    """An attempt failed in a way that may be temporary.

    Args:
        reason: the server's message.
        after: seconds that the server asks to wait.
    """

    def __init__(self, reason: str, after: float | None = None) -> None:
        super().__init__(reason)
        self.after = after


class RateLimited(Again):
    """The server takes no more requests for now."""


class Lost(Again):
    """The request may have been answered, but the answer did not arrive whole."""


class Unavailable(Again):
    """The server is down for all requests."""

    remedy = "Does a server run at that address?"


class Unreachable(Unavailable):
    """No server listens at the address."""

    remedy = f"{Unavailable.remedy} `bears model` starts a small one on this machine"


MEANING: Mapping[int, type[Exception]] = {
    401: RunStopped,
    403: RunStopped,
    404: RunStopped,
    408: Again,
    409: Again,
    429: RateLimited,
    502: Unavailable,
    503: Unavailable,
}
"""What each HTTP status means. Other statuses from 500 mean `Again`, the rest `RequestRefused`.
A time-out, a lost connection and an unreadable answer mean `Lost`; a refused connection means
`Unreachable`."""
NO_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
"""Codes of a 429 that means `RunStopped`."""
REMEDIES = {
    401: "Look at the key and its permissions",
    403: "Look at the key and its permissions",
    404: "Look at {where}.model and {where}.base_url",
    429: "The account has no credit left",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """An error that a server reports.

    Args:
        status: the HTTP status.
        code: the provider's code.
        message: the provider's message.
    """

    status: int
    code: str
    message: str

    @property
    def meaning(self) -> type[Exception]:
        """Return what it means for the request or the run."""
        if self.status == 429 and self.code in NO_QUOTA:
            return RunStopped
        other = Again if self.status >= 500 else RequestRefused
        return MEANING.get(self.status, other)

    def fault(self, message: str, after: float | None, where: str) -> Exception:
        """Return the exception for it.

        Args:
            message: of the exception.
            after: seconds that the server asks to wait.
            where: the configuration key of the request's settings.
        """
        meaning = self.meaning
        if issubclass(meaning, Again):
            return meaning(message, after)
        if meaning is RunStopped:
            return RunStopped(f"{message}. {REMEDIES[self.status].format(where=where)}")
        about_schema = any(word in self.message for word in ("response_format", "json_schema"))
        return (SchemaRefused if self.status == 400 and about_schema else RequestRefused)(message)

    def __str__(self) -> str:
        code = f" {self.code}" if self.code else ""
        return f"status {self.status}{code}: {self.message}"


def read_problem(status: int, content: bytes) -> Problem:
    """Read an error response in any form."""
    try:
        body = json_value(content, "")
    except FormatError:
        return Problem(status, "", content.decode("utf-8", "replace").strip())
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return Problem(status, "", str(error))
    code = error.get("code") or error.get("type") or ""
    return Problem(status, str(code), str(error.get("message", "")))
