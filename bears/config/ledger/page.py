"""Show what people are asked as a page that needs no network, one item at a time."""

from collections.abc import Iterable, Mapping
from string import Template
from typing import Any

from bears.files.page import as_data, part, policy, style_of, words_of

PACKAGE = "bears.config.ledger"
ROOM = 4 << 20
"""Bytes that the whole documents of a page may have; longer ones are cut until they fit."""
CUT = "…"


def page(
    name: str, items: Iterable[tuple[str, dict[str, str], str]], about: Mapping[str, Any]
) -> str:
    """Return a page as HTML. A text that several items have is in it once.

    Args:
        name: of its file, without the ending.
        items: the digest of what is shown, the cells by column, and the text of which the cell of
            the ``document`` is a part, if it is known.
        about: what the page knows of all items, such as the column that is the ``document``.
    """
    rows, document = [*items], about["document"]
    texts: dict[str, int] = {}
    longest = _longest({whole for _, _, whole in rows})

    def packed(shown: str, cells: dict[str, str], whole: str) -> list[Any]:
        cell, within = cells.get(document, ""), []
        own = cell if cell in whole else cell.removesuffix(CUT)
        start = whole.find(own) if own else -1
        if 0 <= start <= longest - len(own):
            kept = whole if len(whole) <= longest else whole[:longest] + CUT
            # A browser counts characters beyond the first 65,536 twice.
            place = [len(text.encode("utf-16-le")) // 2 for text in (whole[:start], own)]
            within = [texts.setdefault(kept, len(texts)), *place, int(own != cell)]
            cells = {**cells, document: ""}
        return [shown, [texts.setdefault(text, len(texts)) for text in cells.values()], within]

    style, script = style_of(PACKAGE, "page.css"), part(PACKAGE, "page.js")
    data = {**about, "name": name, "words": words_of(PACKAGE), "items": [packed(*r) for r in rows]}
    return Template(part(PACKAGE, "page.html")).substitute(
        policy=policy(style, script),
        style=style,
        script=script,
        data=as_data({**data, "kept": [*texts]}),
    )


def _longest(texts: set[str]) -> int:
    """Return how many characters of each text fit into `ROOM`."""
    longest = max(map(len, texts), default=0)
    while sum(len(text[:longest].encode()) for text in texts) > ROOM:
        longest = longest * 3 // 4
    return longest
