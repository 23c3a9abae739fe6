r"""Texts of other people, shown: they act in no terminal, spreadsheet, Markdown or HTML.

Everything that is printed or written for people's eyes goes through here; a test sees to it.
"""

import json
import re
import sys
from collections.abc import Sequence
from html import escape
from unicodedata import normalize

from bears.files.addresses import without_passwords
from bears.files.intake.texts import FILLERS, blank

SPACES = frozenset(" \u00a0\u3000")
"""White space that texts are written with, and that does nothing."""
LINES = frozenset("\n\t")

QUOTED = "'"
"""What is put before a cell, so that a spreadsheet takes it for a text."""


def one_line(text: str, longest: int = 80) -> str:
    r"""``text`` cut short, on one line; what is no visible character is written as ``\u202e``.

    Such are the controls of terminals, line breaks, marks that turn the direction of writing, and
    what takes no room.
    """
    shown = _visible(text, SPACES)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def for_terminal(text: str) -> str:
    """``text`` as `one_line` has it, but whole and with its lines."""
    return _visible(text, SPACES | LINES)


def complain(text: str) -> None:
    """Print to stderr."""
    print(for_terminal(without_passwords(text)), file=sys.stderr, flush=True)


def _visible(text: str, kept: frozenset[str]) -> str:
    if text.isprintable() and FILLERS.isdisjoint(text):
        return text
    # As JSON has them, so that JSON with such characters stays the same value.
    return "".join(
        c if c in kept or (c.isprintable() and c not in FILLERS) else json.dumps(c)[1:-1]
        for c in text
    )


def guard(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula; `restored` gives back the text."""
    return QUOTED + cell if _is_formula(cell) else cell


def restored(cell: str) -> str:
    """What `guard` was given."""
    return cell[1:] if cell.startswith(QUOTED) and _is_formula(cell) else cell


def _is_formula(cell: str) -> bool:
    """Whether a spreadsheet might compute it: by its first sign, in any width, after any space."""
    for place, c in enumerate(cell):
        if c in "\t\r\n":
            return True
        if c != QUOTED and not blank(c):
            # Of a text in full width or in superscript the plain one counts.
            return normalize("NFKC", cell[place])[:1] in tuple("=+-@")
    return False


def markdown(text: str) -> str:
    """``text`` on one line within Markdown or HTML: no mark-up, link, mention, image or tag."""
    shown = escape(_visible(" ".join(text.split()), SPACES), quote=False)
    shown = re.sub(r"([\\`*_{}\[\]()#|~$])", r"\\\1", shown)
    shown = re.sub(r":(?=//)|(?<=\bwww)\.", r"\\\g<0>", shown, flags=re.IGNORECASE)
    # Hosts look for mentions and numbers of issues in what was rendered, where escapes are gone.
    return re.sub(r"(?<=[@#])(?=\w)", "&#8203;", shown)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table of texts, each escaped."""
    from tabulate import tabulate

    cells = [[markdown(cell) for cell in row] for row in rows]
    return tabulate(cells, headers=list(header), tablefmt="pipe", disable_numparse=True) + "\n"
