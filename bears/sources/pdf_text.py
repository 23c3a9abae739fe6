"""Read the pages of PDFs, and cut their text into paragraphs.

PDFium reads them: it is fast, and written in C++. So it has processes of its own, which a damaged
file may crash or hold up. What it read is kept by the digest of the file.
"""

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict

from bears.errors import FormatError, first_line
from bears.files.intake.files import read_whole
from bears.files.progress import Progress
from bears.files.records import read_json, write_json

VERSION = 1
"""Of what is kept; another number reads every file again."""
LONGEST_S = 300.0
"""How long a file may take."""
SAMPLED = 16
"""Every n-th character of a page is looked at, and all of them if one has no meaning."""
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


class PdfText(TypedDict):
    """The text of a PDF.

    Attributes:
        pages: of each page with its lines; empty for a page of pictures.
        unreadable: characters left out since their font does not say which they are.
        problem: why it cannot be read; empty: it can.
    """

    pages: list[str]
    unreadable: int
    problem: str


def text_of(path: Path, texts: Path) -> PdfText:
    """Return the text of a PDF.

    Args:
        path: the file.
        texts: the folder in which a file's text is kept.

    Raises:
        FormatError: the PDF is damaged or encrypted with a password, or most of it is unreadable.
    """
    place = _place(path, texts)
    if not place.exists():
        read_ahead([path], texts)
    if not place.exists():
        reason = f"PDFium crashed, or took more than {LONGEST_S:.0f} s"
        raise FormatError(f"{path} cannot be read ({reason})")
    text: PdfText = read_json(place)
    if text["problem"]:
        raise FormatError(f"{path} cannot be read ({text['problem']})")
    if text["unreadable"] > sum(len("".join(page.split())) for page in text["pages"]):
        raise FormatError(
            f"{path} cannot be read: its fonts do not say which letters they show. Save it anew "
            "from its source, or let a program for OCR read its pages"
        )
    return text


def read_ahead(paths: Sequence[Path], texts: Path) -> None:
    """Read those PDFs whose texts are not kept yet, on all processors."""
    new = {}
    for path in paths:
        # `text_of` raises it again, for the file alone.
        with suppress(FormatError):
            new[_place(path, texts)] = path
    new = {place: path for place, path in new.items() if not place.exists()}
    texts.mkdir(parents=True, exist_ok=True)
    words = [os.fspath(each.absolute()) for pair in new.items() for each in pair]
    size = 2 * (1 + len(new) // 50)
    batches = [words[at : at + size] for at in range(0, len(words), size)]
    with (
        ThreadPoolExecutor(os.cpu_count()) as pool,
        Progress(total=len(new), desc="PDFs", unit=" files") as bar,
    ):
        for batch in pool.map(_read_apart, batches):
            bar.update(len(batch) // 2)


def _read_apart(words: list[str]) -> list[str]:
    """Read PDFs in a process of its own; what it cannot finish is not kept."""
    program = [sys.executable, "-P", "-m", __name__, *words]
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(program, capture_output=True, check=False, timeout=LONGEST_S * len(words))
    return words


def _place(path: Path, texts: Path) -> Path:
    from pypdfium2.version import PDFIUM_INFO

    digest = hashlib.sha256(read_whole(path)).hexdigest()
    return texts / f"{digest}.{PDFIUM_INFO.build}.{VERSION}.json"


def _read(path: Path) -> PdfText:
    from pypdfium2 import PdfDocument

    try:
        with PdfDocument(read_whole(path)) as document:
            found = [_page(page.get_textpage()) for page in document]
    except Exception as error:
        # PDFium does not list what it raises for a damaged file.
        return PdfText(pages=[], unreadable=0, problem=first_line(error))
    return PdfText(pages=[t for t, _ in found], unreadable=sum(n for _, n in found), problem="")


def _page(page: Any) -> tuple[str, int]:
    """Return the text of a page, and how many of its characters are left out."""
    from pypdfium2 import raw

    def unknown(place: int) -> bool:
        return bool(raw.FPDFText_HasUnicodeMapError(page, place) == 1)

    text, unreadable = page.get_text_range(), 0
    size = page.count_chars()
    if any(map(unknown, range(0, size, SAMPLED))):
        known = [place for place in range(size) if not unknown(place)]
        text = "".join(chr(raw.FPDFText_GetUnicode(page, place)) for place in known)
        unreadable = size - len(known)
    # U+FFFE is a hyphen at the end of a line. Halves of characters cannot be written as UTF-8.
    lines = text.replace("\r\n", "\n").replace("\ufffe", "-\n")
    written = lines.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return CONTROLS.sub("", written), unreadable


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
            # Words that were broken at the ends of lines become whole.
            whole = re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", "\n".join(current))
            joined.append(whole.replace("\n", " "))
            current = []
    return list(_sized(joined, least, most))


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


if __name__ == "__main__":
    for place, path in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        write_json(Path(place), _read(Path(path)))
