"""Cut a document at headings, or else between paragraphs."""

from collections.abc import Iterable, Iterator

from bears.language.sentences import split
from bears.sources.folder.blocks import Block

BETWEEN = "\n\n"


def cut(blocks: Iterable[Block], least: int, most: int) -> Iterator[str]:
    """Yield the pieces of a document, in its order.

    Args:
        blocks: of the document.
        least: a piece of fewer characters does not end before a heading.
        most: the characters of a piece. Paragraphs fill it up, and a longer paragraph is cut at
            the ends of sentences.
    """
    current: list[Block] = []
    # Its length, and the number of its blocks up to the last paragraph.
    size, body = -len(BETWEEN), 0
    for block in _short(blocks, most):
        longer = size + len(BETWEEN) + len(block.text)
        ends = longer > most or (block.heading and body and size >= least)
        if current and ends:
            # Headings at its end belong to what comes after them.
            headings = current[body:] if body else []
            if _size([*headings, block]) > most:
                headings = []
            yield BETWEEN.join(each.text for each in current[: len(current) - len(headings)])
            current, body = headings, 0
        current.append(block)
        size = _size(current) if ends else longer
        body = body if block.heading else len(current)
    if current:
        yield BETWEEN.join(each.text for each in current)


def _short(blocks: Iterable[Block], most: int) -> Iterator[Block]:
    for block in blocks:
        if len(block.text) <= most:
            yield block
        else:
            yield from (Block(text) for part in split(block.text, most) if (text := part.strip()))


def _size(blocks: list[Block]) -> int:
    return sum(len(block.text) for block in blocks) + len(BETWEEN) * max(len(blocks) - 1, 0)
