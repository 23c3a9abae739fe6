"""Split an HTML page into blocks, without scripts, styles, navigation and footers."""

import re
from html.parser import HTMLParser

from bears.language.blocks import HEADING

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


def declared_encoding(data: bytes) -> str:
    """Return the encoding that a page declares, or an empty text."""
    found = CHARSET.search(data[:4096].lower())
    return found[1].decode("ascii", "replace") if found else ""


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
