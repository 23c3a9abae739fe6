r"""Texts of other people, made harmless for terminals, spreadsheets, Markdown and HTML.

Everything that is printed or written for people goes through here; a test checks that.
"""

import re
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, redirect_stdout
from html import escape

from bears.files.visible import SPACES, visible, without_passwords

LINES = frozenset("\n\t")


def for_terminal(text: str) -> str:
    """Return ``text`` as `one_line` does, but whole and with its line breaks."""
    return visible(text, SPACES | LINES)


def complain(text: str) -> None:
    """Print to stderr, without passwords and control characters."""
    print(for_terminal(without_passwords(text)), file=sys.stderr, flush=True)


def printing_to_stderr() -> AbstractContextManager[object]:
    """Print to stderr within, where stdout is for the result alone."""
    return redirect_stdout(sys.stderr)


def markdown(text: str) -> str:
    """Escape ``text`` for one line of Markdown or HTML: no mark-up, link, mention or tag."""
    shown = escape(visible(" ".join(text.split())), quote=False)
    shown = re.sub(r"([\\`*_{}\[\]()#|~$])", r"\\\1", shown)
    shown = re.sub(r":(?=//)|(?<=\bwww)\.", r"\\\g<0>", shown, flags=re.IGNORECASE)
    # Hosts look for mentions and issue numbers after rendering, when escapes are gone.
    return re.sub(r"(?<=[@#])(?=\w)", "&#8203;", shown)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table of texts, each escaped."""
    from tabulate import tabulate

    cells = [[markdown(cell) for cell in row] for row in rows]
    return tabulate(cells, headers=list(header), tablefmt="pipe", disable_numparse=True) + "\n"
