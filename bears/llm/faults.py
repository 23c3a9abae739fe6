"""Why a request has no reply, and whose fault it is.

A fault belongs to the server, and the request is sent again (`Again`), later (`RateLimited`); or to
the account, its key or the settings, and the run stops (`RunStopped`); or to the request, which
the user may give up (`RequestRefused`). Statuses and codes say whose it is, never words. If none
does, the request has failed (`RequestFailed`) and may be sent another time. The messages never
contain the API key.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from bears.errors import BearsError, FormatError
from bears.files.intake.files import json_value
from bears.files.intake.yaml_text import table_of


class ClientError(BearsError):
    """A request has no reply."""


class RequestRefused(ClientError):
    """A code says that the server refuses the content or the length of this one request."""


class RequestFailed(ClientError):
    """No attempt was answered, and another time one may be."""


class Unexplained(RequestFailed):
    """The server refuses a request, and no code says whether it would refuse others.

    It may be the JSON schema, which the text can hold too.
    """


class RunStopped(ClientError):
    """No request can be answered until the user fixes the account, key, model or address."""


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


MEANING: Mapping[int, type[Exception]] = {
    **dict.fromkeys((301, 302, 303, 307, 308, 401, 402, 403, 404, 405, 410), RunStopped),
    **dict.fromkeys((200, 408, 409), Again),
    413: RequestRefused,
    429: RateLimited,
    **dict.fromkeys((502, 503), Unavailable),
}
"""What each HTTP status of an error means, 200 included. Others from 500 mean `Again`, the rest
`Unexplained`. A time-out, a lost connection and an unreadable answer mean `Lost`; a refused
connection means `Unreachable`."""
_CODES = table_of(__file__)
OF_REQUEST, OF_ACCOUNT = frozenset(_CODES["request"]), frozenset(_CODES["account"])
REMEDY = (
    "Look at the key, the account's credit and limits, {where}.model and {where}.base_url, then "
    "run the same again: nothing that came is lost"
)


@dataclass(frozen=True, slots=True)
class Problem:
    """An error that a server reports.

    Args:
        status: the HTTP status.
        codes: the provider's codes, the most exact one first.
        message: the provider's message.
    """

    status: int
    codes: Sequence[str]
    message: str

    @property
    def meaning(self) -> type[Exception]:
        """Return what it means for the request or the run. The message decides nothing."""
        found = MEANING.get(self.status, Again if self.status >= 500 else Unexplained)
        if found is RunStopped or OF_ACCOUNT.intersection(self.codes):
            return RunStopped
        return RequestRefused if OF_REQUEST.intersection(self.codes) else found

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
        remedy = f". {REMEDY.format(where=where)}" if meaning is RunStopped else ""
        return meaning(message + remedy)

    def __str__(self) -> str:
        code = f" {self.codes[0]}" if self.codes and self.codes[0] != str(self.status) else ""
        return f"status {self.status}{code}: {self.message}"


def read_problem(status: int, content: bytes) -> Problem:
    """Read an error response in any form; the body may have a status of its own beside 200."""
    text = content.decode("utf-8", "replace").strip()
    try:
        body = json_value(content, "")
    except FormatError:
        return Problem(status, (), text)
    body = body[0] if isinstance(body, list) and body else body
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return Problem(status, (), str(error))
    inner = error.get("innererror")
    named = error.get("code"), error.get("type"), inner.get("code") if _is_map(inner) else None
    codes = [str(code) for code in named if code]
    if status == 200 and codes and re.fullmatch(r"[45]\d\d", codes[0]):
        status = int(codes[0])
    # A router has the words of the provider behind it there.
    behind = error["metadata"].get("raw") if _is_map(error.get("metadata")) else None
    message = error.get("message") or text
    return Problem(status, codes, f"{message} ({behind})" if behind else str(message))


def _is_map(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, dict)
