"""Read the pages of a PDF, and cut their text into paragraphs."""

import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from bears.errors import FormatError, first_line
from bears.files.intake.files import opened


def pages_of(path: Path) -> list[str]:
    """Return the text of each page with its lines; it is empty for a page of pictures.

    Raises:
        FormatError: the PDF is damaged, or encrypted with a password.
    """
    import pypdf

    # Its own warnings of damage name no file.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        with opened(path) as stream:
            pages = [page.extract_text() for page in pypdf.PdfReader(stream).pages]
    except Exception as error:
        # A damaged PDF makes the parser fail in ways that it does not list.
        reason = f"{type(error).__name__}: {first_line(error)}"
        raise FormatError(f"{path} cannot be read ({reason})") from error
    # Halves of characters from formulas cannot be written as UTF-8.
    return [page.encode("utf-8", "replace").decode("utf-8") for page in pages]


def paragraphs(text: str, least: int, most: int) -> list[str]:
    """Cut the text of a PDF into paragraphs.

    A paragraph ends with a line that is empty, or that closes a sentence and is shorter than four
    fifths of the longer lines.

    Args:
        least: a paragraph of fewer characters is joined with the next.
        most: a paragraph of more characters is cut at the ends of sentences.
    """
    lines = [line.strip() for line in text.split("\n")]
    lengths = sorted(len(line) for line in lines)
    # The upper quartile: nearly the width of the column, whatever headings and formulas there are.
    full = lengths[len(lengths) * 3 // 4]
    joined: list[str] = []
    current: list[str] = []
    for line in [*lines, ""]:
        if line:
            current.append(line)
        closes = line.endswith((".", "?", "!", ":")) and len(line) < 0.8 * full
        if current and (closes or not line):
            joined.append(_unbroken(current))
            current = []
    return list(_sized(joined, least, most))


def _unbroken(lines: list[str]) -> str:
    """Join lines, and the words that were broken at their ends."""
    return re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", "\n".join(lines)).replace("\n", " ")


def _sized(texts: Sequence[str], least: int, most: int) -> Iterator[str]:
    current = ""
    for text in texts:
        for piece in _sentences(text, most):
            if current and len(current) + 1 + len(piece) > most:
                yield current
                current = ""
            current = f"{current} {piece}" if current else piece
        if len(current) >= least:
            yield current
            current = ""
    if current:
        yield current


def _sentences(text: str, most: int) -> Iterator[str]:
    """Yield the sentences of a text, and a longer table without a full stop in parts."""
    for sentence in re.split(r"(?<=[.?!])\s+", text):
        for start in range(0, len(sentence), most):
            yield sentence[start : start + most]
