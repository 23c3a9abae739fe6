"""What the memory holds of a question that a model does not answer, so that nobody waits for it."""

from collections.abc import Sequence

GIVEN_UP = "[GIVEN UP]"
LONGEST_REASON = 300


def given_up(reasons: Sequence[str]) -> str:
    """The entry of a question that was asked for in vain."""
    return f"{GIVEN_UP} {' '.join('; '.join(reasons).split())[:LONGEST_REASON]}"


def why_given_up(entry: str) -> str:
    """The reasons that an entry of the memory gives; empty: it is an answer."""
    return entry.removeprefix(GIVEN_UP).strip() if entry.startswith(GIVEN_UP) else ""
