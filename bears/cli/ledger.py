"""Writing conf/ledger/<benchmark>.yaml."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from bears.formats.records import write_text

PARTS = ("replacements", "edits", "reviews")


def add(path: Path, part: str, entries: Sequence[Mapping[str, Any]], same: Sequence[str]) -> None:
    """Add entries; one replaces an earlier one that has the same values under ``same``.

    Entries are sorted, so that the order of adding leaves no trace.
    """
    content = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
    content = {name: [] for name in PARTS} | (content or {})
    new = [{name: _literal(value) for name, value in entry.items()} for entry in entries]
    by_place = {tuple(entry[name] for name in same): entry for entry in [*content[part], *new]}
    content[part] = sorted(map(dict, by_place.values()), key=_canonical)
    write_text(path, yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100))


def _literal(value: Any) -> Any:
    """``value`` as Hydra reads it back: ``${`` in a text is no interpolation."""
    return re.sub(r"(\\*)\$\{", r"\1\1\\${", value) if isinstance(value, str) else value


def _canonical(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False, sort_keys=True)
