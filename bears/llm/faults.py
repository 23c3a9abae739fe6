"""What can keep a request from being answered. The messages never hold the key."""

from bears.errors import BearsError


class ClientError(BearsError):
    """A request was not answered."""


class RequestRefused(ClientError):
    """The server refuses this one request (400, 413, 422 …); asking again would not help.

    Args:
        reason: what it said.
        about_schema: whether that was about the form of the answer.
    """

    def __init__(self, reason: str, about_schema: bool = False) -> None:
        super().__init__(reason)
        self.about_schema = about_schema


class RequestFailed(ClientError):
    """Every attempt failed in a way that might have passed: 429, 5xx, time-out, lost connection."""


class RunStopped(ClientError):
    """No request can be answered until the user mends something: key, model, address or quota."""


class BudgetExhausted(ClientError):
    """The request might cost more than the budget has left."""
