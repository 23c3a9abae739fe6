"""The case that a judge sees, and the judge's ruling."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

Verdict = Literal["pass", "fail", "unscored"]
"""``unscored`` means unknown, never a fail."""
VALUES: Mapping[str, float] = {"pass": 1.0, "fail": 0.0, "unscored": math.nan}
"""The value of each verdict."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict with a short reason; a judge that compares words gives no reason."""

    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One answer to one question.

    Args:
        question: as it was asked, after the earlier turns of a conversation.
        golds: right answers; any of them will do.
        aliases: other names of the gold answer; too short to compare words with (對, 有).
        answer: a system's answer, without its citations; empty if it gave none.
    """

    question_id: str
    question: str
    golds: tuple[str, ...]
    answer: str
    aliases: tuple[str, ...] = ()

    def known(self) -> Ruling | None:
        """Return the ruling on a case that needs no judge, or None."""
        if not self.golds:
            return Ruling("unscored", "no right answer is known")
        return None if self.answer else Ruling("fail", "no answer")


class Judge(Protocol):
    """Decides whether an answer is right, from its words alone."""

    def verdict(self, case: Case, language: str) -> Verdict:
        """Return the verdict on one answer, given the BCP 47 tag of its language."""
