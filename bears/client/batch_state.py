"""Which batches are at the provider, kept so that a killed run finds them again.

The state file is JSON Lines, one event a line, each on disk (fsync) before the next step:

``intent``   a batch will be made: its mark, and the keys of its requests in order
``created``  the provider has made it: its id
``closed``   all that it brought has been handed over
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bears.errors import ConfigurationError
from bears.formats.records import to_line


@dataclass(slots=True)
class Pending:
    """A batch at the provider.

    Args:
        mark: our name for it.
        keys: of its requests; the place is the ``custom_id``.
        id: the provider's name; empty until it is known.
    """

    mark: str
    keys: tuple[str, ...]
    id: str = ""


class State:
    """The state file: which batches are at the provider."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pending(self) -> list[Pending]:
        """The batches that are not closed.

        Raises:
            ConfigurationError: a line other than a torn last one cannot be read.
        """
        found: dict[str, Pending] = {}
        for event in self._events():
            mark = event["mark"]
            if event["event"] == "intent":
                found[mark] = Pending(mark, tuple(event["keys"]))
            elif event["event"] == "created":
                found[mark].id = event["id"]
            else:
                found.pop(mark, None)
        return list(found.values())

    def write(self, event: str, mark: str, **more: Any) -> None:
        """Append an event; it is on disk when this returns."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._drop_torn_end()
        with self._path.open("ab") as stream:
            stream.write(to_line({"event": event, "mark": mark, **more}).encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())

    def _events(self) -> Iterator[dict[str, Any]]:
        content = self._path.read_bytes() if self._path.exists() else b""
        # What follows the last line feed was being written when the process died.
        for number, line in enumerate(content.split(b"\n")[:-1], start=1):
            try:
                event = json.loads(line)
                yield {"mark": event["mark"], "event": event["event"], **event}
            except (ValueError, KeyError, TypeError):
                raise ConfigurationError(
                    f"{self._path}, line {number} is damaged; batches may be at the provider: "
                    "look at its page, then move the file away"
                ) from None

    def _drop_torn_end(self) -> None:
        content = self._path.read_bytes() if self._path.exists() else b""
        if content and not content.endswith(b"\n"):
            with self._path.open("r+b") as stream:
                stream.truncate(content.rfind(b"\n") + 1)
