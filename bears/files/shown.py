r"""Texts of other people, made harmless for terminals, spreadsheets, Markdown and HTML.

Everything that is printed or written for people goes through here; a test checks that.
"""

import json
import re
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, redirect_stdout
from html import escape
from unicodedata import normalize

from bears.files.addresses import without_passwords

# Unicode counts them among letters and symbols, but they are invisible.
FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
SPACES = frozenset(" \u00a0\u3000")
"""Harmless white space that texts use."""
LINES = frozenset("\n\t")
QUOTED = "'"
"""Put before a cell, so that a spreadsheet takes it for text."""


def one_line(text: str, longest: int = 80) -> str:
    r"""Cut ``text`` short, on one line, with invisible characters written like ``\u202e``.

    These are terminal controls, line breaks, marks that change the direction of writing, and
    characters without a width.
    """
    shown = _visible(text, SPACES)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def for_terminal(text: str) -> str:
    """Return ``text`` as `one_line` does, but whole and with its line breaks."""
    return _visible(text, SPACES | LINES)


def complain(text: str) -> None:
    """Print to stderr, without passwords and control characters."""
    print(for_terminal(without_passwords(text)), file=sys.stderr, flush=True)


def printing_to_stderr() -> AbstractContextManager[object]:
    """Print to stderr within, where stdout is for the result alone."""
    return redirect_stdout(sys.stderr)


def _visible(text: str, kept: frozenset[str]) -> str:
    if text.isprintable() and FILLERS.isdisjoint(text):
        return text
    # Escaped as in JSON, so that JSON with such characters keeps its value.
    return "".join(
        c if c in kept or (c.isprintable() and c not in FILLERS) else json.dumps(c)[1:-1]
        for c in text
    )


def blank(text: str) -> bool:
    """Return whether a text has nothing but white space, invisible characters and fillers."""
    return not any(c.isprintable() and c != " " and c not in FILLERS for c in text)


def guard(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula; `restored` undoes it."""
    return QUOTED + cell if _is_formula(cell) else cell


def restored(cell: str) -> str:
    """Undo `guard`."""
    return cell[1:] if cell.startswith(QUOTED) and _is_formula(cell) else cell


def _is_formula(cell: str) -> bool:
    """Return whether a spreadsheet might compute it, by its first character after any space."""
    for place, c in enumerate(cell):
        if c in "\t\r\n":
            return True
        if c != QUOTED and not blank(c):
            # Characters in full width or superscript count as their plain forms.
            return normalize("NFKC", cell[place])[:1] in tuple("=+-@")
    return False


def markdown(text: str) -> str:
    """Escape ``text`` for one line of Markdown or HTML: no mark-up, link, mention or tag."""
    shown = escape(_visible(" ".join(text.split()), SPACES), quote=False)
    shown = re.sub(r"([\\`*_{}\[\]()#|~$])", r"\\\1", shown)
    shown = re.sub(r":(?=//)|(?<=\bwww)\.", r"\\\g<0>", shown, flags=re.IGNORECASE)
    # Hosts look for mentions and issue numbers after rendering, when escapes are gone.
    return re.sub(r"(?<=[@#])(?=\w)", "&#8203;", shown)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table of texts, each escaped."""
    from tabulate import tabulate

    cells = [[markdown(cell) for cell in row] for row in rows]
    return tabulate(cells, headers=list(header), tablefmt="pipe", disable_numparse=True) + "\n"
