"""What can keep a request from being answered. The messages never hold the key."""

from __future__ import annotations

from bears.errors import BearsError


class ClientError(BearsError):
    """A request was not answered."""


class RequestRefused(ClientError):
    """The server refuses this one request (400, 413, 422 …); asking again would not help."""


class RequestFailed(ClientError):
    """Every attempt failed in a way that might have passed: 429, 5xx, time-out, lost connection."""


class RunStopped(ClientError):
    """No request can be answered until the user mends something: key, model, address or quota."""


class BudgetExhausted(ClientError):
    """The request might cost more than the budget has left."""
