"""The blocks of a document: what its author kept together, and the headings above it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

UNDERLINED = re.compile(r"([=\-~^*#\"'`+.:_])\1{2,}")
FENCE = re.compile(r" {0,3}(```+|~~~+)")
HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a table, a piece of code; or a heading."""

    text: str
    heading: bool = False


def blocks_of_text(text: str) -> Iterator[Block]:
    """The paragraphs of a plain text; one with a line of signs below it is a heading."""
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.strip():
            lines.append(line.rstrip())
        elif lines:
            yield _paragraph(lines)
            lines = []


def blocks_of_markdown(text: str) -> Iterator[Block]:
    """The blocks of a Markdown text, as they are written; code within fences is one block."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = found[1] if (found := FENCE.match(line)) else ""
        if fence:
            lines.append(line)
            if mark.startswith(fence) and not line.strip(" `~"):
                fence = ""
        elif line.strip() and not HEADING.match(line):
            fence = mark
            lines.append(line.rstrip())
        else:
            if lines:
                yield _paragraph(lines)
                lines = []
            if line.strip():
                yield Block(line.strip(), heading=True)
    if lines:
        yield _paragraph(lines)


def _paragraph(lines: list[str]) -> Block:
    return Block("\n".join(lines), len(lines) == 2 and bool(UNDERLINED.fullmatch(lines[1].strip())))
