"""Add entries to a ledger's file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bears.config import parse, read_ledger, write_yaml
from bears.config.ledger.entries import Labels, WholeLedger
from bears.errors import ConfigurationError
from bears.files.lock import locked_folder


def add(
    path: Path,
    part: str,
    entries: Sequence[Mapping[str, Any]],
    same: Sequence[str],
    final: bool = False,
) -> None:
    """Add entries; one replaces an earlier one that has the same values under ``same``.

    Entries are sorted, so the result does not depend on the order of additions. One process at a
    time changes the file, whole or not at all.

    Args:
        path: the ledger's file; it is created if missing.
        part: replacements, edits, reviews, judgements or labels.
        same: the fields by which an earlier entry is found.
        final: refuse an entry that differs from the earlier one, instead of replacing that.

    Raises:
        ConfigurationError: the file is not a ledger, or an entry is refused; nothing is written.
    """
    with locked_folder(path):
        content = read_ledger(path)
        for parts in (WholeLedger, Labels):
            parse(parts, content, str(path))
        by_place: dict[tuple[Any, ...], Mapping[str, Any]] = {}
        for entry in [*content[part], *entries]:
            place = tuple(entry.get(name, "") for name in same)
            if final and by_place.setdefault(place, entry) != entry:
                about = " and ".join(map(str, filter(None, place)))
                raise ConfigurationError(
                    f"{about}: {_canonical(by_place[place])} was decided before; change or remove "
                    f"that entry in {path} by hand"
                )
            by_place[place] = entry
        content[part] = sorted(map(dict, by_place.values()), key=_canonical)
        write_yaml(path, content)


def _canonical(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False, sort_keys=True)
