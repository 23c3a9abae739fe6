"""Split a document into blocks, which its author kept together, and headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bears.errors import FormatError
from bears.files.intake.yaml_text import yaml_value

UNDERLINED = re.compile(r"([=\-~^*#\"'`+.:_])\1{2,}")
FENCE = re.compile(r" {0,3}(```+|~~~+)")
HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
FRONT = re.compile(
    r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
"""YAML before a Markdown text, for programs."""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a table, a piece of code; or a heading."""

    text: str
    heading: bool = False


def blocks_of_text(text: str) -> Iterator[Block]:
    """Yield the paragraphs of a plain text; one with a line of signs below it is a heading."""
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.strip():
            lines.append(line.rstrip())
        elif lines:
            yield _paragraph(lines)
            lines = []


def blocks_of_markdown(text: str) -> tuple[list[Block], int]:
    """Return the blocks of a Markdown text, and how many characters of YAML before it are left out.

    Code within fences is one block. The title in the YAML is kept, see `titled`.
    """
    front = FRONT.match(text)
    try:
        said = yaml_value(front[1], "front matter") if front else None
    except FormatError:
        said = None
    if front is None or not isinstance(said, dict):
        return list(_markdown(text)), 0
    title = " ".join(str(said.get("title") or "").split())
    return titled(title, list(_markdown(text[front.end() :]))), front.end()


def titled(title: str, blocks: list[Block]) -> list[Block]:
    """Return the blocks below a title, which is left out if they have headings of their own."""
    headed = not title or any(block.heading for block in blocks)
    return blocks if headed else [Block(title, heading=True), *blocks]


def _markdown(text: str) -> Iterator[Block]:
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
