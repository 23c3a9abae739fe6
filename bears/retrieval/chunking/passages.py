"""Chunks that end where headings and paragraphs do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bears.language.blocks import Block, blocks
from bears.language.sentences import split
from bears.retrieval.chunking import Range
from bears.types import Positive


@dataclass(frozen=True, slots=True)
class Passages:
    """Chunks of whole paragraphs, without overlap, with the headings above them.

    A chunk ends before a heading once it has ``min_characters``, or before the paragraph that would
    make it longer than ``max_characters``. A longer paragraph is cut at the ends of sentences.

    Args:
        min_characters: a shorter chunk does not end before a heading.
        max_characters: the most per chunk.
    """

    min_characters: Positive
    max_characters: Positive

    def ranges(self, text: str) -> list[Range]:
        """Return the ranges of ``text``; white space between them belongs to none."""
        found: list[Range] = []
        current: list[Block] = []
        # The number of its blocks up to the last paragraph.
        body = 0
        for block in self._short(text):
            start = current[0].start if current else block.start
            full = block.end - start > self.max_characters
            long_enough = current and current[-1].end - start >= self.min_characters
            if current and (full or (block.heading and body and long_enough)):
                # Headings at its end belong to what comes after them.
                headings = current[body:] if body else []
                if headings and block.end - headings[0].start > self.max_characters:
                    headings = []
                found.append(_range(current[: len(current) - len(headings)]))
                current, body = headings, 0
            current.append(block)
            body = body if block.heading else len(current)
        if current:
            found.append(_range(current))
        return found or [(0, len(text))]

    def _short(self, text: str) -> Iterator[Block]:
        """Yield the blocks, long ones in parts."""
        for block in blocks(text):
            if block.end - block.start <= self.max_characters:
                yield block
                continue
            place = block.start
            for part in split(text[block.start : block.end], self.max_characters):
                inner = part.strip()
                if inner:
                    start = place + part.index(inner)
                    yield Block(start, start + len(inner))
                place += len(part)


def _range(blocks_: Sequence[Block]) -> Range:
    return blocks_[0].start, blocks_[-1].end
