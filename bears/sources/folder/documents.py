"""Read one file of a folder as blocks, whatever it was written with, and find what files share."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

from bears.errors import FormatError, SourceError, first_line
from bears.files.intake.files import read_whole, text_and_encoding
from bears.files.intake.tables import check_packed
from bears.files.intake.yaml_text import yaml_value
from bears.language.blocks import HEADING, blocks
from bears.sources.pdf_text import paragraphs, text_of

HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
"""Elements to the signs that mark a heading in Markdown."""
BREAKS = HEADINGS.keys() | {
    *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details"),
    *("div", "dl", "fieldset", "figcaption", "figure", "form", "header", "hr", "html", "main"),
    *("ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "ul"),
}
LINES = frozenset({"br", "dt", "li", "tr", "option"})
CELLS = frozenset({"td", "th"})
UNSEEN = frozenset({"template", "noscript", "svg"})
AROUND = frozenset({"nav", "footer"})
"""Elements about the whole site."""
CHARSET = re.compile(
    rb"<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?([\w.:-]{1,40})"
)


UNREAD = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|<[!?][^>]*(?:>|\Z)", re.DOTALL | re.I
)
"""Comments, scripts and declarations. The parser takes hours for a long page of unclosed ones."""
LONGEST = 300
"""The most characters of a margin."""
LEAST = 3
"""The least number of sheets with the same margin."""


def blocks_of_html(text: str) -> tuple[list[str], int]:
    """Return the blocks of a page, and the number of characters left out around them.

    A heading begins with ``#`` as in Markdown. The page's title is one if there is no other.
    """
    page = _Page()
    markup, end, rest = UNREAD.sub("", text).rpartition(">")
    # After the last > no tag ends.
    page.feed(markup + end + rest.replace("<", "&lt;"))
    page.close()
    page.end()
    return titled(page.title, page.blocks), page.around


def titled(title: str, blocks: list[str]) -> list[str]:
    """Return the blocks below a title, which is left out if they have headings of their own."""
    headed = not title or any(map(HEADING.match, blocks))
    return blocks if headed else [f"# {title}", *blocks]


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[str] = []
        self.title, self.around = "", 0
        self._text: list[str] = []
        self._heading, self._verbatim, self._in_title = "", False, False
        # The outermost element that is left out, the depth in it, and its texts.
        self._left_out, self._depth, self._within = "", 0, list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self._in_title = tag == "title"
        if self._left_out:
            self._depth += tag == self._left_out
        elif tag in UNSEEN | AROUND:
            self._break()
            self._left_out, self._depth, self._within = tag, 1, []
        self._part(tag)
        self._heading = self._heading or HEADINGS.get(tag, "")
        self._verbatim = self._verbatim or tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        if self._left_out:
            self._depth -= tag == self._left_out
            if not self._depth:
                self.around += sum(map(len, self._within)) if self._left_out in AROUND else 0
                self._left_out = ""
            return
        self._part(tag)
        self._verbatim = self._verbatim and tag != "pre"

    def handle_data(self, data: str) -> None:
        if self._in_title and not self.title:
            self.title = " ".join(data.split())
        elif self._left_out:
            self._within.append(data)
        else:
            self._text.append(data if self._verbatim else re.sub(r"\s+", " ", data))

    def end(self) -> None:
        """Add the text after the last tag, and the text of an element that was never closed."""
        if self._left_out:
            self._text += self._within
        self._break()

    def _part(self, tag: str) -> None:
        if self._left_out:
            return
        if tag in BREAKS:
            self._break()
        elif tag in LINES | CELLS:
            self._text.append("\n" if tag in LINES else " ")

    def _break(self) -> None:
        lines = "".join(self._text).split("\n")
        stripped = [line.rstrip() if self._verbatim else line.strip() for line in lines]
        if text := "\n".join(line for line in stripped if line.strip()):
            heading = self._heading
            self.blocks.append(f"{heading} {' '.join(text.split())}" if heading else text)
        self._text, self._heading = [], ""


def margins(
    sheets: Sequence[Sequence[str]], edge: int, share: float, counted: bool = False
) -> list[set[int]]:
    """Return the positions of the margins in each sheet.

    Args:
        sheets: the texts of each, in order.
        edge: how many texts at the beginning and at the end of a sheet can be margins. In a short
            sheet there are fewer, since its middle is never a margin.
        share: the share of the sheets, and three of them at least, that have a margin.
        counted: whether its numbers may differ from sheet to sheet.
    """
    found = []
    for sheet in sheets:
        near = min(edge, (len(sheet) - 1) // 2)
        places = [*range(near), *range(len(sheet) - near, len(sheet))]
        found.append({i: form for i in places if (form := _form(sheet[i], counted))})
    counts = Counter(form for forms in found for form in set(forms.values()))
    enough = max(LEAST, share * len(sheets))
    return [{i for i, form in forms.items() if counts[form] >= enough} for forms in found]


def _form(text: str, counted: bool) -> str:
    form = " ".join(text.split()).casefold() if len(text) <= LONGEST else ""
    return re.sub(r"\d+", "0", form) if counted else form


KINDS = {
    **dict.fromkeys((".txt", ".text", ".rst", ".adoc", ".org"), "text"),
    **dict.fromkeys((".md", ".markdown", ".mdx"), "markdown"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    ".pdf": "pdf",
    ".docx": "word",
}
"""The end of a name, in lower case, to the kind of the file."""
FRONT = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
"""YAML before a Markdown text, for programs."""
WORD_BYTES = 32 << 20
"""The size of the unpacked XML of a Word file: some thousand pages, read in a minute or two."""
PAGE_EDGE, PAGE_SHARE = 3, 0.5
"""The number of lines at a page's edges that may be headers, and the share of pages with them."""


@dataclass
class Content:
    """The content of one file.

    Args:
        kind: one of `KINDS`.
        blocks: the texts of its paragraphs, tables and headings, in its order.
        remarks: what was done to it that its author may not expect, each with an example.
        dropped: headers and footers that are left out.
    """

    kind: str
    blocks: list[str]
    remarks: list[tuple[str, str]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return the whole text, with a blank line between two blocks."""
        return "\n\n".join(self.blocks)


def read_document(path: Path, encoding: str, texts: Path) -> Content:
    """Read a file of one of `KINDS`.

    Args:
        path: its name gives the kind.
        encoding: of texts that are not UTF-8, have no byte order mark and declare nothing.
        texts: the folder in which the texts of PDFs are kept.

    Raises:
        FormatError: it is of another kind, damaged or protected, or has an unknown encoding.
        SourceError: there is no text in it.
    """
    kind = KINDS[path.suffix.lower()]
    if kind == "pdf":
        content = _pdf(path, texts)
    elif kind == "word":
        content = Content(kind, blocks_of_html(_word(path))[0])
    else:
        content = _text(kind, path, encoding)
    if not content.blocks:
        raise SourceError(f"{path}: there is no text in it")
    return content


def _text(kind: str, path: Path, encoding: str) -> Content:
    data = read_whole(path)
    said = CHARSET.search(data[:4096].lower()) if kind == "html" else None
    declared = said[1].decode("ascii", "replace") if said else encoding
    text, found = text_and_encoding(data, str(path), declared)
    remarks = [(f"read as {found}", "")] if found != "utf-8" else []
    markup = kind == "html"
    if not markup:
        found_blocks, remark = _blocks(kind, text)
    else:
        found_blocks, around = blocks_of_html(text)
        remark = f"{around} characters of navigation and footers are left out" if around else ""
    return Content(kind, found_blocks, [*remarks, *([(remark, "")] if remark else [])])


def _blocks(kind: str, text: str) -> tuple[list[str], str]:
    """Return the blocks of a text, and a remark on the YAML before it; empty without any.

    The YAML is left out, and its title kept if the text has no heading. What cannot be read as YAML
    stays in the text.
    """
    remark = ""
    text = "\n".join(map(str.rstrip, text.splitlines()))
    front = FRONT.match(text) if kind == "markdown" else None
    try:
        said = yaml_value(front[1], "front matter") if front else None
    except FormatError as error:
        said, remark = None, f"stays in the text: {error}"
    if front is None or not isinstance(said, dict):
        found = [text[start:end] for start, end, _ in blocks(text, kind == "markdown")]
        return found, remark
    title = " ".join(str(said.get("title") or "").split())
    body = text[front.end() :]
    own = titled(title, [body[start:end] for start, end, _ in blocks(body)])
    return own, f"{front.end()} characters of front matter are left out"


def _pdf(path: Path, texts: Path) -> Content:
    read = text_of(path, texts)
    pages = [page.split("\n") for page in read["pages"]]
    found = margins(pages, PAGE_EDGE, PAGE_SHARE, counted=True)
    both = list(zip(pages, found, strict=True))
    left = ["\n".join(t for i, t in enumerate(page) if i not in out) for page, out in both]
    text = "\n\n".join(left)
    dropped = [page[i] for page, out in both for i in sorted(out)]
    content = Content("pdf", paragraphs(text, 1, len(text) + 1), dropped=dropped)
    if dropped:
        content.remarks.append((f"{len(dropped)} headers and footers of pages", dropped[0]))
    if unreadable := read["unreadable"]:
        what = f"{unreadable} characters are left out: their font does not say which they are"
        content.remarks.append((what, ""))
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
