"""Show what people are asked as a page that needs no network, one item at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

from bears.files.page import as_data, part, policy, style_of, words_of

PACKAGE = "bears.config.ledger"
ROOM = 4 << 20
"""Bytes that the whole documents of a page may have; longer ones are cut until they fit."""
CUT = "…"


@dataclass(frozen=True)
class Item:
    """What a page asks.

    Args:
        shown: the digest of what is shown.
        cells: by column.
        document: the column of the document, if there is one.
        whole: the text of which that cell is a part, if it is known.
    """

    shown: str
    cells: Mapping[str, str]
    document: str
    whole: str


def page(name: str, items: Sequence[Item], about: Mapping[str, Any]) -> str:
    """Return a page as HTML. A text that several items have is in it once.

    Args:
        name: of its file, without the ending.
        about: what the page knows of all items.
    """
    texts: dict[str, int] = {}
    longest = _longest({each.whole for each in items})

    def kept(text: str) -> int:
        return texts.setdefault(text, len(texts))

    rows = []
    for each in items:
        cells, within = {**each.cells}, []
        start, end = _place(each)
        if each.whole[start:end] and end <= longest:
            # A browser counts characters beyond the first 65,536 twice.
            before, own = each.whole[:start], each.whole[start:end]
            cut = cells[each.document] != own
            whole = each.whole if len(each.whole) <= longest else each.whole[:longest] + CUT
            within = [kept(whole), _units(before), _units(own), int(cut)]
            cells[each.document] = ""
        rows.append([each.shown, [kept(text) for text in cells.values()], within])
    style, script = style_of(PACKAGE, "page.css"), part(PACKAGE, "page.js")
    data = {**about, "name": name, "words": words_of(PACKAGE), "items": rows, "kept": [*texts]}
    return Template(part(PACKAGE, "page.html")).substitute(
        policy=policy(style, script),
        style=style,
        script=script,
        data=as_data(data),
    )


def _place(item: Item) -> tuple[int, int]:
    """Return where the document's cell begins and ends in the whole text; 0 and 0 if nowhere."""
    cell = item.cells.get(item.document, "")
    for own in (cell, cell.removesuffix(CUT)):
        if own and (start := item.whole.find(own)) >= 0:
            return start, start + len(own)
    return 0, 0


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _longest(texts: set[str]) -> int:
    """Return how many characters of each text fit into `ROOM`."""
    longest = max(map(len, texts), default=0)
    while sum(len(text[:longest].encode("utf-8")) for text in texts) > ROOM:
        longest = longest * 3 // 4
    return longest
