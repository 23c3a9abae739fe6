"""What a use of a language model provides: its prompts, its keys and its check of a reply."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from bears.errors import RepliesMissing
from bears.llm.endpoint import AskingSettings
from bears.llm.kept import KeptReplies, KeptReply
from bears.llm.wire import ChatAnswer, ChatRequest

SHOWN = 5
FILL = "To get them from a model: bears replies fill, then bears replies publish"


class Request(Protocol):
    """One thing to ask a model. A use adds whatever else it needs."""

    @property
    def record_id(self) -> str:
        """Return the id of the question or document."""

    @property
    def field(self) -> str:
        """Return which part of the record this is; plans count requests by it."""

    @property
    def text(self) -> str:
        """Return the text to keep beside the reply, for people who read the kept replies."""


R = TypeVar("R", bound=Request)
N = TypeVar("N", bound="Needs[Any]")
Lookup = Callable[[R], KeptReply | None]


@dataclass
class Needs(Generic[R]):
    """The requests of a use, with the kept replies that answer them.

    Args:
        missing: requests without a kept reply.
        waiting: requests that will follow once ``missing`` has replies; only for estimates.
        used: kept replies that were looked up, by key.
        replies: each answered request with its reply, in the order of the requests.
    """

    missing: list[R] = field(default_factory=list)
    waiting: list[R] = field(default_factory=list)
    used: dict[str, KeptReply] = field(default_factory=dict)
    replies: list[tuple[R, str]] = field(default_factory=list)

    def ask(self, lookup: Lookup[R], request: R) -> str | None:
        """Look up a request and record it as used or missing."""
        entry = lookup(request)
        if entry is None:
            self.missing.append(request)
            return None
        self.used[entry.key] = entry
        self.replies.append((request, entry.answer))
        return entry.answer


@dataclass(frozen=True)
class CheckedReply:
    """The result of checking a model's reply.

    Args:
        text: the text to keep; empty if there is nothing to keep.
        refusals: reasons why the reply cannot be kept at all.
        doubts: reasons to ask again. The reply may still be kept if no better one comes.
    """

    text: str
    refusals: list[str]
    doubts: list[str]


class Use(Protocol[R]):
    """Something that a model is asked for each record."""

    @property
    def name(self) -> str:
        """Return the ``kind`` of this use's journal rows, and the field that holds the reply."""

    @property
    def wanted(self) -> str:
        """Return a name for what may be missing, e.g. ``translations into ko by gpt-4.1``."""

    @property
    def advice(self) -> str:
        """Return what a person can do if a reply keeps failing."""

    @property
    def settings(self) -> AskingSettings:
        """Return the model, and how to ask it."""

    def resolve(self, known: KeptReplies) -> Needs[R]:
        """Find all requests. A request may depend on the replies to others."""

    def key(self, request: R) -> str:
        """Return `key_of` everything that can change the reply, including the use itself."""

    def ask(self, request: R, reasons: list[str]) -> ChatRequest:
        """Build the chat request; ``reasons`` say why the last reply was refused."""

    def output_tokens(self, request: R) -> tuple[float, float]:
        """Estimate the fewest and the most tokens of a reply, for plans."""

    def check(self, request: R, answer: ChatAnswer) -> CheckedReply:
        """Check a reply."""


def all_of(needs: N, wanted: str, remedy: str = FILL) -> N:
    """Return ``needs`` if nothing is missing.

    Args:
        needs: the result of `Use.resolve`.
        wanted: the name for what may be missing, as in `Use.wanted`.
        remedy: how to get it.

    Raises:
        RepliesMissing: a request has no reply.
    """
    if needs.missing:
        raise RepliesMissing(f"{missing_message(needs, wanted)}\n{remedy}")
    return needs


def missing_message(needs: Needs[R], wanted: str) -> str:
    """Count the missing replies and list the first few."""
    missing, waiting = needs.missing, len(needs.waiting)
    counts = Counter(request.field for request in missing)
    by_field = ", ".join(f"{count} {field}" for field, count in sorted(counts.items()))
    shown = "\n".join(
        f"  {request.record_id} {request.field}: {request.text!r:.70}"
        for request in missing[:SHOWN]
    )
    more = f"\n  … and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
    after = f", and {waiting} more follow from them" if waiting else ""
    count = f"{len(missing)} {wanted} ({by_field}){after}"
    return f"missing from the kept replies: {count}:\n{shown}{more}"
