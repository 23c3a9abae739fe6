"""What a use of the memory brings: the words and the judgement. The room brings all the rest."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from bears.errors import MemoryMiss
from bears.llm.kept import MemoryEntry, PublishedMemory
from bears.llm.settings import AskingSettings
from bears.llm.wire import ChatAnswer, ChatRequest

SHOWN = 5
FILL = "To fill it from a model: python -m bears memory fill, then python -m bears memory publish"


class Request(Protocol):
    """One thing that a model is asked for; a use gives it what else it needs."""

    @property
    def record_id(self) -> str:
        """The question or document that it belongs to."""

    @property
    def field(self) -> str:
        """Which part of the record it is; plans count by it."""

    @property
    def text(self) -> str:
        """What is asked about, kept beside the answer so that a person can read the memory."""


R = TypeVar("R", bound=Request)
N = TypeVar("N", bound="Needs[Any]")
Lookup = Callable[[R], MemoryEntry | None]


@dataclass
class Needs(Generic[R]):
    """What a use needs, against what is known.

    Args:
        missing: requests that the lookup had no answer to.
        waiting: requests that will follow once ``missing`` is answered, for estimates only.
        used: the entries that were looked up.
        replies: each request that has a reply, with it, in the order of the requests.
    """

    missing: list[R] = field(default_factory=list)
    waiting: list[R] = field(default_factory=list)
    used: dict[str, MemoryEntry] = field(default_factory=dict)
    replies: list[tuple[R, str]] = field(default_factory=list)

    def ask(self, lookup: Lookup[R], request: R) -> str | None:
        """Look a request up, and note it as missing or used."""
        entry = lookup(request)
        if entry is None:
            self.missing.append(request)
            return None
        self.used[entry.key] = entry
        self.replies.append((request, entry.answer))
        return entry.answer


@dataclass(frozen=True)
class CheckedReply:
    """What a use says of an answer.

    Args:
        text: what would be kept; empty where there is nothing to keep.
        refusals: why it cannot be stored at all.
        doubts: why it should be asked for again, but may be stored if nothing better comes.
    """

    text: str
    refusals: list[str]
    doubts: list[str]


class Use(Protocol[R]):
    """Something that a model is asked for, record by record."""

    @property
    def name(self) -> str:
        """Of what is kept: the ``kind`` of its rows in the journal, and its field in them."""

    @property
    def wanted(self) -> str:
        """What is missing in a message: ``translations into zh-Hant-TW by gpt-4.1``."""

    @property
    def advice(self) -> str:
        """What a person can do, besides filling again, where an answer keeps failing."""

    @property
    def settings(self) -> AskingSettings:
        """The model, and how it is asked."""

    def resolve(self, known: PublishedMemory) -> Needs[R]:
        """Walk all that is needed; what an answer leads to is asked for once it is known."""

    def key(self, request: R) -> str:
        """`key_of` everything that can change the answer, the use itself included."""

    def ask(self, request: R, reasons: list[str]) -> ChatRequest:
        """What is sent, with the reasons why the last answer was not taken."""

    def output_tokens(self, request: R) -> tuple[float, float]:
        """The least and the most tokens of an answer in practice, for plans."""

    def check(self, request: R, answer: ChatAnswer) -> CheckedReply:
        """What is wrong with an answer."""


def all_of(needs: N, wanted: str, remedy: str = FILL) -> N:
    """``needs``, in which nothing may be missing.

    Args:
        wanted: what may be missing, as `Use.wanted` says it.
        remedy: how to get it.

    Raises:
        MemoryMiss: something was never asked.
    """
    if needs.missing:
        raise MemoryMiss(f"{missing_message(needs, wanted)}\n{remedy}")
    return needs


def missing_message(needs: Needs[R], wanted: str) -> str:
    """How many answers a memory lacks, and the first of them."""
    missing, waiting = needs.missing, len(needs.waiting)
    counts = Counter(request.field for request in missing)
    by_field = ", ".join(f"{count} {field}" for field, count in sorted(counts.items()))
    shown = "\n".join(
        f"  {request.record_id} {request.field}: {request.text!r:.70}"
        for request in missing[:SHOWN]
    )
    more = f"\n  … and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
    after = f", and {waiting} more follow from them" if waiting else ""
    return f"the memory lacks {len(missing)} {wanted} ({by_field}){after}:\n{shown}{more}"
