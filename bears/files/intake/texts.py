"""Find texts that a person cannot see."""

# Unicode counts them among letters and symbols, but they are invisible.
FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")


def blank(text: str) -> bool:
    """Return whether a text has nothing but white space, invisible characters and fillers."""
    return not any(c.isprintable() and c != " " and c not in FILLERS for c in text)
