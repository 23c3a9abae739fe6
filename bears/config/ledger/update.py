"""Add entries to a ledger's file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bears.config import parse, read_ledger, write_yaml
from bears.config.ledger.entries import Labels, WholeLedger
from bears.files.lock import locked_folder


def add(path: Path, part: str, entries: Sequence[Mapping[str, Any]], same: Sequence[str]) -> None:
    """Add entries; one replaces an earlier one that has the same values under ``same``.

    Entries are sorted, so the result does not depend on the order of additions. One process at a
    time changes the file, whole or not at all.

    Args:
        path: the ledger's file; it is created if missing.
        part: replacements, edits, reviews, judgements or labels.
        same: the fields by which an earlier entry is found.

    Raises:
        ConfigurationError: the file is not a ledger; nothing is written.
    """
    with locked_folder(path):
        content = read_ledger(path)
        for parts in (WholeLedger, Labels):
            parse(parts, content, str(path))
        both = [*content[part], *entries]
        by_place = {tuple(entry.get(name, "") for name in same): entry for entry in both}
        content[part] = sorted(map(dict, by_place.values()), key=_canonical)
        write_yaml(path, content)


def _canonical(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False, sort_keys=True)
