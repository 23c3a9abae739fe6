"""Cutting a document where its author did: at headings, else between paragraphs."""

from collections.abc import Iterable, Iterator

from bears.language.sentences import split
from bears.sources.folder.blocks import Block

BETWEEN = "\n\n"


def cut(blocks: Iterable[Block], least: int, most: int) -> Iterator[str]:
    """The pieces of a document, in its order.

    Args:
        blocks: of the document.
        least: a piece of fewer characters does not end before a heading.
        most: characters of a piece. Paragraphs fill it up; one that is longer is cut where
            sentences end.
    """
    current: list[Block] = []
    for block in _short(blocks, most):
        size = _size([*current, block])
        # Headings at its end belong to what stands below them.
        body = next((i for i in range(len(current), 0, -1) if not current[i - 1].heading), 0)
        ends = block.heading and _size(current) >= least
        if current and ((body and ends) or size > most):
            fits = body and _size([*current[body:], block]) <= most
            kept = body if fits else len(current)
            yield BETWEEN.join(each.text for each in current[:kept])
            current = current[kept:]
        current.append(block)
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
