"""Adding entries to a ledger's file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bears.configuration import parse, read_ledger, write_yaml
from bears.formats.exclusive import exclusive
from bears.ledger.entries import WholeLedger


def add(path: Path, part: str, entries: Sequence[Mapping[str, Any]], same: Sequence[str]) -> None:
    """Add entries; one replaces an earlier one that has the same values under ``same``.

    Entries are sorted, so that the order of adding leaves no trace. The file is changed by one
    process at a time, whole or not at all.

    Args:
        path: of the ledger; made if it is absent.
        part: replacements, edits or reviews.

    Raises:
        ConfigurationError: the file holds something that is no ledger; it stays as it is.
    """
    with exclusive(path):
        content = read_ledger(path)
        parse(WholeLedger, content, str(path))
        both = [*content[part], *entries]
        by_place = {tuple(entry[name] for name in same): entry for entry in both}
        content[part] = sorted(map(dict, by_place.values()), key=_canonical)
        write_yaml(path, content)


def _canonical(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False, sort_keys=True)
