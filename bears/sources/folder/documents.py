"""Read one file of a folder as blocks, whatever it was written with."""

from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from bears.errors import FormatError, SourceError, first_line
from bears.files.intake.encodings import text_and_encoding
from bears.files.intake.files import read_whole
from bears.files.intake.packed import check_packed
from bears.sources.folder.blocks import Block, blocks_of_markdown, blocks_of_text
from bears.sources.folder.html import blocks_of_html, declared_encoding
from bears.sources.folder.margins import margins
from bears.sources.pdf_text import pages_of, paragraphs

KINDS = {
    **dict.fromkeys((".txt", ".text", ".rst", ".adoc", ".org"), "text"),
    **dict.fromkeys((".md", ".markdown", ".mdx"), "markdown"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    ".pdf": "pdf",
    ".docx": "word",
}
"""The end of a name, in lower case, to the kind of the file."""
WORD_BYTES = 32 << 20
"""The size of the unpacked XML of a Word file: some thousand pages, read in a minute or two."""
PAGE_EDGE, PAGE_SHARE = 3, 0.5
"""The number of lines at a page's edges that may be headers, and the share of pages with them."""


@dataclass
class Content:
    """The content of one file.

    Args:
        kind: one of `KINDS`.
        blocks: in its order.
        remarks: what was done to it that its author may not expect, each with an example.
    """

    kind: str
    blocks: list[Block]
    remarks: list[tuple[str, str]] = field(default_factory=list)


def read_document(path: Path, encoding: str, most: int) -> Content:
    """Read a file of one of `KINDS`.

    Args:
        path: its name gives the kind.
        encoding: of texts that are not UTF-8, have no byte order mark and declare nothing.
        most: characters of a paragraph of a PDF.

    Raises:
        FormatError: it is of another kind, damaged or protected, or has an unknown encoding.
        SourceError: there is no text in it.
    """
    kind = KINDS[path.suffix.lower()]
    if kind == "pdf":
        content = _pdf(path, most)
    elif kind == "word":
        blocks, _ = blocks_of_html(_word(path))
        content = Content(kind, blocks)
    else:
        content = _text(kind, path, encoding)
    if not content.blocks:
        raise SourceError(f"{path}: there is no text in it")
    return content


def _text(kind: str, path: Path, encoding: str) -> Content:
    data = read_whole(path)
    said = declared_encoding(data) if kind == "html" else ""
    text, found = text_and_encoding(data, str(path), said or encoding)
    remarks = [(f"read as {found}", "")] if found != "utf-8" else []
    if kind == "text":
        return Content(kind, list(blocks_of_text(text)), remarks)
    markup = kind == "html"
    blocks, around = blocks_of_html(text) if markup else blocks_of_markdown(text)
    if around:
        what = "navigation and footers" if markup else "front matter"
        remarks.append((f"{around} characters of {what} are left out", ""))
    return Content(kind, blocks, remarks)


def _pdf(path: Path, most: int) -> Content:
    pages = [page.split("\n") for page in pages_of(path)]
    found = margins(pages, PAGE_EDGE, PAGE_SHARE, counted=True)
    both = list(zip(pages, found, strict=True))
    kept = ["\n".join(t for i, t in enumerate(page) if i not in left) for page, left in both]
    content = Content("pdf", [Block(text) for text in paragraphs("\n\n".join(kept), 1, most)])
    if dropped := [page[i] for page, left in both for i in sorted(left)]:
        content.remarks.append((f"{len(dropped)} headers and footers of pages", dropped[0]))
    return content


def _word(path: Path) -> str:
    """Return a Word file as HTML, without its pictures."""
    # It takes 0.1 s to import.
    import mammoth

    data = BytesIO(read_whole(path))
    check_packed(data, path, WORD_BYTES)
    try:
        found = mammoth.convert_to_html(data, convert_image=lambda _: [])
    except Exception as error:
        # A damaged file makes the converter fail in ways that it does not list.
        reason = f"it cannot be read as a Word file ({first_line(error)})"
        raise FormatError(f"{path}: {reason}") from None
    return str(found.value)
