"""Show what is invisible in the texts of other people, whether for a person or in a file."""

import json

# Unicode counts them among letters and symbols, but they are invisible.
FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
SPACES = frozenset(" \u00a0\u3000")
"""Harmless white space that texts use."""


def one_line(text: str, longest: int = 80) -> str:
    r"""Cut ``text`` short, on one line, with invisible characters written like ``\u202e``.

    These are terminal controls, line breaks, marks that change the direction of writing, and
    characters without a width.
    """
    shown = visible(text)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def visible(text: str, kept: frozenset[str] = SPACES) -> str:
    """Return ``text`` with each invisible character that is not ``kept`` as JSON escapes it."""
    if text.isprintable() and FILLERS.isdisjoint(text):
        return text
    # JSON with such characters keeps its value.
    return "".join(
        c if c in kept or (c.isprintable() and c not in FILLERS) else json.dumps(c)[1:-1]
        for c in text
    )


def blank(text: str) -> bool:
    """Return whether a text has nothing but white space, invisible characters and fillers."""
    return not any(c.isprintable() and c != " " and c not in FILLERS for c in text)
