"""Split a text into blocks, which its author kept together, and headings."""

import re
from collections.abc import Iterator
from typing import NamedTuple

UNDERLINED = re.compile(r"([=\-~^*#\"'`+.:_])\1{2,}")
FENCE = re.compile(r" {0,3}(```+|~~~+)")
HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
LINE = re.compile(r"[^\n]+")


class Block(NamedTuple):
    """A paragraph, a table, a piece of code; or a heading: a range of characters of a text."""

    start: int
    end: int
    heading: bool = False


def blocks(text: str, marks: bool = True) -> Iterator[Block]:
    """Yield the blocks of a text, without the blank lines between them.

    A line with a line of signs below it is a heading.

    Args:
        marks: whether a line that begins with ``#`` is a heading, and code within fences is one
            block, as in Markdown.
    """
    lines: list[tuple[int, int]] = []
    fence = ""
    for found in LINE.finditer(text):
        line = found[0].rstrip()
        place = found.start(), found.start() + len(line)
        if not fence and lines and text.count("\n", lines[-1][1], found.start()) > 1:
            yield _paragraph(text, lines)
            lines = []
        mark = said[1] if marks and (said := FENCE.match(line)) else ""
        if fence:
            lines.append(place)
            if mark.startswith(fence) and not line.strip(" `~"):
                fence = ""
        elif not line:
            continue
        elif marks and HEADING.match(line):
            if lines:
                yield _paragraph(text, lines)
                lines = []
            yield Block(place[1] - len(line.lstrip()), place[1], heading=True)
        else:
            fence = mark
            lines.append(place)
    if lines:
        yield _paragraph(text, lines)


def _paragraph(text: str, lines: list[tuple[int, int]]) -> Block:
    start, end = lines[0][0], lines[-1][1]
    signs = text[slice(*lines[-1])].strip()
    return Block(start, end, len(lines) == 2 and bool(UNDERLINED.fullmatch(signs)))
