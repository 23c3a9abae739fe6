"""Show what is invisible in the texts of other people, and take passwords out of addresses."""

import json
import re

# Unicode counts them among letters and symbols, but they are invisible.
FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
SPACES = frozenset(" \u00a0\u3000")
"""Harmless white space that texts use."""
_WORD = r"[^\s\"'<>/\\?#@]"
_HOLDING = re.compile(
    # http://user:password@host, with as many slashes as a lenient reader takes
    rf"(?P<user>\b[a-z][a-z0-9+.-]+:[/\\]+){_WORD}*(?=@)"
    # http://user:pass/word@host, if the part before the slash is not a port
    rf"|(?P<cut>\b[a-z][a-z0-9+.-]+:[/\\]{{2,}}){_WORD}+?:(?!\d*[/\\?#]){_WORD}*[^\s\"'<>]*(?=@)"
    # http://host/path?query, #fragment or ;parameters, any of which may be a key
    rf"|(?P<query>\b[a-z][a-z0-9+.-]+://[^\s\"'<>?#;]*[?#;])[^\s\"'<>)\]]+",
    re.IGNORECASE,
)
_BARE = re.compile(rf"(?!mailto:)[/\\]{{0,2}}{_WORD}+:{_WORD}+@[\w\[]\S*", re.IGNORECASE)
"""user:password@host, as a whole text."""


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


def holds_password(text: str) -> bool:
    """Return whether ``text`` has an address with a user name, a password, or more than a path."""
    return bool(_HOLDING.search(text) or _BARE.fullmatch(text.strip()))


def without_passwords(text: str) -> str:
    """Replace all but scheme, host, port and path in the addresses of ``text`` by an ellipsis."""
    return _HOLDING.sub(lambda found: f"{found[found.lastgroup or 0]}…", text)
