"""Adding entries to a ledger's file."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bears.configuration import read_yaml, write_yaml
from bears.formats.exclusive import exclusive

PARTS = ("replacements", "edits", "reviews")


def add(path: Path, part: str, entries: Sequence[Mapping[str, Any]], same: Sequence[str]) -> None:
    """Add entries; one replaces an earlier one that has the same values under ``same``.

    Entries are sorted, so that the order of adding leaves no trace. The file is changed by one
    process at a time, whole or not at all.

    Args:
        path: of the ledger; made if it is absent.
        part: replacements, edits or reviews.
    """
    new = [{name: _literal(value) for name, value in entry.items()} for entry in entries]
    with exclusive(path):
        content = read_yaml(path) if path.exists() else None
        content = {name: [] for name in PARTS} | (content or {})
        by_place = {tuple(entry[name] for name in same): entry for entry in [*content[part], *new]}
        content[part] = sorted(map(dict, by_place.values()), key=_canonical)
        write_yaml(path, content)


def _literal(value: Any) -> Any:
    """``value`` as Hydra reads it back: ``${`` in a text is no interpolation."""
    return re.sub(r"(\\*)\$\{", r"\1\1\\${", value) if isinstance(value, str) else value


def _canonical(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False, sort_keys=True)
