"""Change a ledger's file."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bears.config import read_ledger, write_yaml
from bears.config.ledger.entries import Entry, Ledger
from bears.config.typed import parse
from bears.files.lock import locked_folder
from bears.files.records import to_line


class OpenLedger:
    """A ledger's file while no other process changes it.

    Args:
        path: of the file; `add` creates it if it is missing.

    Raises:
        ConfigurationError: the file is not a ledger.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._content = path, read_ledger(path)
        self.decisions = parse(Ledger, self._content, str(path))

    def add(
        self,
        part: str,
        entries: Iterable[Entry],
        same: Sequence[str],
        without: Callable[[Mapping[str, Any]], bool] = lambda _: False,
    ) -> None:
        """Add entries; one replaces an earlier one that has the same values under ``same``.

        Entries are sorted, so the result does not depend on the order of additions. The file is
        changed whole or not at all.

        Args:
            part: replacements, edits, reviews, judgements or labels.
            same: the fields by which an earlier entry is found.
            without: which of the earlier entries to remove.
        """
        both = [each for each in self._content[part] if not without(each)]
        # What is empty says nothing.
        both += [{key: value for key, value in asdict(one).items() if value} for one in entries]
        by_place = {tuple(entry.get(name, "") for name in same): entry for entry in both}
        self._content[part] = sorted(by_place.values(), key=to_line)
        write_yaml(self._path, self._content)


@contextmanager
def open_ledger(path: Path) -> Iterator[OpenLedger]:
    """Hold a ledger's file, so that what is compared with it is what is changed."""
    with locked_folder(path):
        yield OpenLedger(path)
