"""Failures without an answer between them: once there are enough, no further one is worth it."""

import re
from typing import Generic, TypeVar

from bears.llm.client.errors import ClientError, RequestFailed, RequestRefused, RunStopped

FIRST, LATER = 5, 20
"""How many that are alike end a run: before its first answer, and after it."""
OWN = re.compile(r"\S*\d\S*")
"""Words of a message that may be another one for each request: numbers, ids."""

R = TypeVar("R")
A = TypeVar("A")


class Streak(Generic[R, A]):
    """Holds failures back until it is known whether they are the requests' or the server's."""

    def __init__(self) -> None:
        self._held: list[tuple[R, ClientError]] = []
        self._form, self._enough = "", FIRST

    @property
    def is_long(self) -> bool:
        """Whether nothing more should be sent before an answer comes."""
        return len(self._held) >= self._enough

    def told(self, request: R, outcome: A | ClientError) -> list[tuple[R, A | ClientError]]:
        """Take an outcome in; returns what is known by it."""
        if not isinstance(outcome, RequestRefused | RequestFailed):
            self._enough = LATER
            return [*self._rest(), (request, outcome)]
        form = OWN.sub("", str(outcome))
        known = [] if form == self._form else self._rest()
        self._form = form
        self._held.append((request, outcome))
        return known

    def ended(self) -> tuple[list[tuple[R, A | ClientError]], RunStopped | None]:
        """What is held back when no more outcomes come, and why the run stops where it does.

        Then the server is to blame, and another time it may take these very requests.
        """
        if not self.is_long:
            return self._rest(), None
        count, error = len(self._held), self._held[-1][1]
        failed = [(request, RequestFailed(str(error))) for request, error in self._held]
        stop = RunStopped(f"{count} requests in a row failed alike, the last one: {error}")
        return [*failed], stop

    def _rest(self) -> list[tuple[R, A | ClientError]]:
        held, self._held = self._held, []
        return [*held]
