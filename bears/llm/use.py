"""What a use of a language model provides: prompts, keys, kept replies and its check of a reply."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from bears.errors import RepliesCorrupt, RepliesMissing
from bears.files.lock import locked_folder
from bears.files.records import read_lines, write_lines
from bears.llm.models import AskingSettings
from bears.llm.wire import ChatAnswer, ChatRequest

HALF = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair. Models do send them, and UTF-8 cannot hold them."""

_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
SHOWN = 5
FILL = "To get them from a model: bears replies fill, then bears replies publish"


def key_of(content: Mapping[str, Any], repeat: int = 1) -> str:
    """Return the sha256 of the JSON of ``content``, with sorted names and without white space.

    Args:
        repeat: which time the same is asked. The first time has the key of what is asked once.
    """
    content = content if repeat == 1 else {**content, "repeat": repeat}
    return hashlib.sha256(_canonical(content).encode("utf-8")).hexdigest()


def is_whole(*texts: str) -> bool:
    """Return whether UTF-8 can hold ``texts``: none has half of a surrogate pair."""
    return not any(HALF.search(text) for text in texts)


@dataclass(frozen=True, slots=True)
class KeptReply:
    """One reply.

    Args:
        key: the digest of everything that can change the reply.
        record_id: the record that this reply belongs to; only set if several replies with the same
            key were published.
        field: which part of the record.
        text: the text that the request was about, for people who read the file.
        answer: the reply; the file calls this field by the name of the use.
    """

    key: str
    record_id: str
    field: str
    text: str
    answer: str

    def row(self, name: str) -> dict[str, str]:
        """Return the row of this reply in the file of the use ``name``."""
        place = {"key": self.key, "record_id": self.record_id, "field": self.field}
        return place | {"text": self.text, name: self.answer}


class KeptReplies:
    """Replies by key. A reply for one record takes precedence over a general one.

    Args:
        entries: the replies, in any order.

    Raises:
        RepliesCorrupt: two entries for one key and record hold different replies.
    """

    def __init__(self, entries: Iterable[KeptReply] = ()) -> None:
        self._entries: dict[tuple[str, str], KeptReply] = {}
        for entry in entries:
            known = self._entries.setdefault((entry.key, entry.record_id), entry)
            if known.answer != entry.answer:
                raise RepliesCorrupt(
                    f"two replies for {entry.text!r:.60}: {known.answer!r:.60} and "
                    f"{entry.answer!r:.60}; keep one of the lines with key {entry.key}"
                )

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[KeptReply]:
        return iter(self._entries.values())

    def get(self, key: str, record_id: str) -> KeptReply | None:
        """Return the reply for a key: the record's own one, or else the general one."""
        return self._entries.get((key, record_id)) or self._entries.get((key, ""))

    def add(self, *entries: KeptReply) -> None:
        """Add replies; they replace those with the same key and record."""
        self._entries |= {(entry.key, entry.record_id): entry for entry in entries}

    def save(self, path: Path, name: str) -> None:
        """Write the JSON Lines file of the use ``name``, sorted by key and record, atomically."""
        write_lines(path, (self._entries[place].row(name) for place in sorted(self._entries)))


def extend(path: Path, name: str, entries: Iterable[KeptReply]) -> tuple[int, int]:
    """Add replies to the published file of the use ``name``, one process at a time.

    Returns:
        The number of replies in the file, and how many of them are new.
    """
    with locked_folder(path):
        replies = load(path, name)
        before = len(replies)
        replies.add(*entries)
        replies.save(path, name)
    return len(replies), len(replies) - before


def holds_replies(path: Path) -> bool:
    """Return whether a file is there and is not empty.

    DVC warns of files without a byte, so one without replies has an empty line.
    """
    return path.exists() and path.stat().st_size > 1


def load(path: Path, name: str) -> KeptReplies:
    """Read the published replies of the use ``name``; an absent file has none.

    Raises:
        RepliesCorrupt: a line has other fields than a reply, or two replies disagree.
        FormatError: a line is not JSON.
    """
    if not holds_replies(path):
        return KeptReplies()
    names = {"key", "record_id", "field", "text", name}
    entries = []
    for number, row in read_lines(path):
        if not isinstance(row, dict) or row.keys() != names:
            raise RepliesCorrupt(f"{path}, line {number}: expected the fields {sorted(names)}")
        answer = row.pop(name)
        strings = all(isinstance(value, str) for value in (answer, *row.values()))
        if not strings or not answer.strip():
            raise RepliesCorrupt(f"{path}, line {number}: expected strings, and a {name}")
        entries.append(KeptReply(**row, answer=answer))
    return KeptReplies(entries)


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

    name: ClassVar[str]
    """The ``kind`` of this use's journal rows, and the field that holds the reply."""
    advice: ClassVar[str]
    """What a person can do if a reply keeps failing."""
    hint: ClassVar[str] = ""
    """What makes replies usable that are not."""
    settings: AskingSettings
    """The model, and how to ask it."""

    @property
    def wanted(self) -> str:
        """Return a name for what may be missing, e.g. ``translations into ko by gpt-4.1``."""

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
