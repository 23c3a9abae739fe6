"""What 429s say of our pace: the server is closed, we are too fast, or nothing at all."""

from dataclasses import dataclass

ENOUGH = 10
"""Refusals that are no accident."""
FEW = 4
"""Refusals that are none where there should be none at all."""
COHORT = 20 * ENOUGH
"""Requests among which fewer than `ENOUGH` refusals mean nothing."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be done about refusals.

    Args:
        closed: everything is refused: wait.
        share: of the requests that were refused: send so much less; 0: no less than now.
        since: when the first of those went out in which that was seen.
        sent: how many those are.
        stray: sending less did not help: undo it.
    """

    closed: bool = False
    share: float = 0.0
    since: float = 0.0
    sent: int = 0
    stray: bool = False


class Refusals:
    """Holds 429s against what was sent. Pure: requests count, not seconds.

    A limit refuses the less, the less is sent; strays fall on as many, however slowly one goes.
    So the pace is lowered to what was accepted, and then refusals must become rare.
    """

    def __init__(self) -> None:
        self.last = 0
        """The number of the request that went out last."""
        self.closings = 0
        """How often the server was found closed since it last took a request."""
        self._start = self._row_start = self._row = self._count = 0
        self._since = self._slowed_for = self._stray = 0.0

    def sent(self, now: float) -> int:
        """Number a request that goes out."""
        if self.last == self._start:
            self._since = now
        self.last += 1
        if self.last - self._start > COHORT:
            self._begin()
            self._slowed_for = 0.0
        return self.last

    def begin(self) -> None:
        """Forget what was sent until now: it says nothing of what comes."""
        self._begin()
        self._row, self._row_start = 0, self.last

    def accepted(self, number: int) -> None:
        """The server took a request."""
        if number > self._row_start:
            self._row = self.closings = 0

    def refused(self, number: int, paced: bool) -> Verdict:
        """The server refused a request.

        Args:
            paced: whether requests keep to a limit, so that each refusal is a surprise.
        """
        if number <= self._start:
            return Verdict()
        if not self._row and not self.closings:
            self._row_start = number - 1
        self._row, self._count = self._row + 1, self._count + 1
        enough = FEW if paced and not self._stray else ENOUGH
        most = 2 * self._row > self.last - self._row_start
        if most and (self.closings or self._row >= enough):
            self.closings += 1
            self.begin()
            return Verdict(closed=True)
        return self._judged() if self._row < enough <= self._count else Verdict()

    def _begin(self) -> None:
        self._start, self._count = self.last, 0

    def _judged(self) -> Verdict:
        sent = self.last - self._start
        share, before = self._count / sent, self._slowed_for
        self._begin()
        self._slowed_for = 0.0
        if before / 2 <= share <= min(0.5, before * 1.5):
            self._stray = share
        if share <= 1.5 * self._stray:
            return Verdict(stray=True)
        self._slowed_for = share
        return Verdict(share=share, since=self._since, sent=sent)
