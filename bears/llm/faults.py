"""Why a request has no reply, and whose fault it is.

A fault belongs to the server, and the request is sent again (`Again`), later (`RateLimited`); or to
the account, its key or the settings, and the run stops (`RunStopped`); or to the request, which is
given up (`RequestRefused`). If nothing says whose it is, the request has failed (`RequestFailed`)
and may be sent another time. The messages never contain the API key.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bears.errors import BearsError, FormatError
from bears.files.intake.files import json_value


class ClientError(BearsError):
    """A request has no reply."""


class RequestRefused(ClientError):
    """The server refuses the content or the length of this one request; no other try can help."""


class RequestFailed(ClientError):
    """No attempt was answered, and another time one may be."""


class SchemaRefused(RequestFailed):
    """The server refuses the JSON schema of the request, which the text can hold too."""


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
`RequestFailed`. A time-out, a lost connection and an unreadable answer mean `Lost`; a refused
connection means `Unreachable`."""
TELLING = (200, 400, 403, 422)
"""Statuses that servers use for faults of all kinds, so that their words decide."""
SCHEMA = re.compile(r"response_format|json_schema")
NO_CREDIT = re.compile(
    r"(?i)insufficient.{0,9}(quota|balance|credit|fund)|billing_(hard|not)|current_quota_error"
    r"|arrearage|余额|欠费"
)
"""Words about the account that count with every status. Others in a 429 are about the rate."""
ACCOUNT = re.compile(
    r"(?i)credit|balance|billing|payment|quota|subscription|(usage|spend\w*).limit|api.?key|密钥"
    r"|account|organi[sz]ation|permission|authenti|authori[sz]|monthly|daily|per (day|month)"
    r"|(location|country|region|territory).{0,20}not (support|avail|allow)"
    r"|\bmodel\b.{0,80}(exist|not.(found|support|avail|allow)|unavail|access|decommission|retired)"
    r"|(unknown|invalid|no such|unsupported|not a valid|access).(model|parameter|value: '\w+' does)"
    r"|max_(completion_)?tokens\W.{0,40}too large|expired|trial|suspended|disabled|models loaded"
)
"""Words about the account, its key, or settings that all requests share."""
REQUEST = re.compile(
    r"(?i)content.{0,30}(polic|filter|risk|management)|usage polic|responsibleai|flagged|moderation"
    r"|safety (system|filter|reason|polic|concern)|inappropriate|(un|not |non.)safe|敏感|违规"
    r"|context.{0,20}(length|size|window|limit)|(input|prompt).{0,20}(length|too large)|too long"
    r"|(maximum|exceed).{0,40}tokens|string_above_max|payload size|sensitive (content|word|info)"
)
"""Words about the content or the length of one request."""
REMEDY = (
    "Look at the key, the account's credit and limits, {where}.model and {where}.base_url, then "
    "run the same again: nothing that came is lost"
)


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
        words = f"{self.code} {self.message}"
        if NO_CREDIT.search(words):
            return RunStopped
        if self.status in TELLING:
            kinds = ((SCHEMA, SchemaRefused), (ACCOUNT, RunStopped), (REQUEST, RequestRefused))
            for known, kind in kinds:
                if known.search(words):
                    return kind
        return MEANING.get(self.status, Again if self.status >= 500 else RequestFailed)

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
        code = f" {self.code}" if self.code not in ("", str(self.status)) else ""
        return f"status {self.status}{code}: {self.message}"


def read_problem(status: int, content: bytes) -> Problem:
    """Read an error response in any form; the body may have a status of its own beside 200."""
    text = content.decode("utf-8", "replace").strip()
    try:
        body = json_value(content, "")
    except FormatError:
        return Problem(status, "", text)
    body = body[0] if isinstance(body, list) and body else body
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return Problem(status, "", str(error))
    code = str(error.get("code") or error.get("type") or "")
    if status == 200 and re.fullmatch(r"[45]\d\d", code):
        status = int(code)
    # A router has the words of the provider behind it there.
    behind = error["metadata"].get("raw") if isinstance(error.get("metadata"), dict) else None
    message = error.get("message") or text
    return Problem(status, code, f"{message} ({behind})" if behind else str(message))
