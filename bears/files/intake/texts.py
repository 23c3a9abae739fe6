"""What a person sees of a text."""

# Unicode counts them among letters and symbols, and they show nothing.
FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")


def blank(text: str) -> bool:
    """Whether a person sees nothing: no character, white space, invisible ones, or fillers."""
    return not any(c.isprintable() and c != " " and c not in FILLERS for c in text)
