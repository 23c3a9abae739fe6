"""What 429 responses mean: the server is closed, we are too fast, or nothing at all."""

from dataclasses import dataclass

ENOUGH = 10
"""Refusals that are not a coincidence."""
FEW = 4
"""Refusals that are not a coincidence if there should be none at all."""
COHORT = 20 * ENOUGH
"""Requests among which fewer than `ENOUGH` refusals mean nothing."""


@dataclass(frozen=True, slots=True)
class Reaction:
    """How to react to refusals.

    Args:
        closed: everything is refused: wait.
        share: the share of the requests that were refused: send so much less; 0: no change.
        since: when the first of these requests was sent.
        sent: how many there are.
        stray: sending less did not help: undo it.
    """

    closed: bool = False
    share: float = 0.0
    since: float = 0.0
    sent: int = 0
    stray: bool = False


class Refusals:
    """Compare 429 responses with the requests sent. Pure: it counts requests, not seconds.

    A rate limit refuses less if less is sent; stray refusals hit the same share at any rate. So
    the rate is lowered to what was accepted, and then refusals must become rare.
    """

    def __init__(self) -> None:
        self.last = 0
        """The number of the last request that was sent."""
        self.closings = 0
        """How often the server was closed since it last accepted a request."""
        self._start = self._row_start = self._row = self._count = 0
        self._since = self._slowed_for = self._stray = 0.0

    def sent(self, now: float) -> int:
        """Return the number of a request that is sent now."""
        if self.last == self._start:
            self._since = now
        self.last += 1
        if self.last - self._start > COHORT:
            self._begin()
            self._slowed_for = 0.0
        return self.last

    def begin(self) -> None:
        """Forget all requests until now: they say nothing about the next ones."""
        self._begin()
        self._row, self._row_start = 0, self.last

    def accepted(self, number: int) -> None:
        """Count a request that the server accepted."""
        if number > self._row_start:
            self._row = self.closings = 0

    def refused(self, number: int, paced: bool) -> Reaction:
        """Count a request that the server refused.

        Args:
            number: of the request.
            paced: whether requests keep to a limit, so that each refusal is a surprise.
        """
        if number <= self._start:
            return Reaction()
        if not self._row and not self.closings:
            self._row_start = number - 1
        self._row, self._count = self._row + 1, self._count + 1
        enough = FEW if paced and not self._stray else ENOUGH
        most = 2 * self._row > self.last - self._row_start
        if most and (self.closings or self._row >= enough):
            self.closings += 1
            self.begin()
            return Reaction(closed=True)
        return self._judged() if self._row < enough <= self._count else Reaction()

    def _begin(self) -> None:
        self._start, self._count = self.last, 0

    def _judged(self) -> Reaction:
        sent = self.last - self._start
        share, before = self._count / sent, self._slowed_for
        self._begin()
        self._slowed_for = 0.0
        if before / 2 <= share <= min(0.5, before * 1.5):
            self._stray = share
        if share <= 1.5 * self._stray:
            return Reaction(stray=True)
        self._slowed_for = share
        return Reaction(share=share, since=self._since, sent=sent)
