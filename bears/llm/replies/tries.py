"""How often each key was asked, counted over all runs, and what came of it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from bears.llm.replies.use import CheckedReply


class Tries:
    """Answers that were refused or doubted since something was last given up for their key.

    Args:
        name: of the use.
        rows: of the use in the journal.
    """

    def __init__(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        self.reasons: dict[str, list[str]] = {}
        """Why the last answer was not taken, which is told when asking again."""
        self.best: dict[str, CheckedReply] = {}
        """The answer with the fewest doubts, of those that may be stored."""
        self._counts = Counter[str]()
        for row in rows:
            # A row without a model is none of an answer.
            if "model" in row and (reasons := row["reasons"]):
                pair = ([], reasons) if row.get("storable") else (reasons, [])
                self.note(row["key"], CheckedReply(row[name], *pair))
                if row["kind"] == "failure":
                    del self._counts[row["key"]]

    def note(self, key: str, verdict: CheckedReply) -> int:
        """Count an answer that was not taken; returns how many there are of its key."""
        self.reasons[key] = verdict.refusals + verdict.doubts
        best = self.best.get(key, verdict)
        if not verdict.refusals and len(verdict.doubts) <= len(best.doubts):
            self.best[key] = verdict
        self._counts[key] += 1
        return self._counts[key]
