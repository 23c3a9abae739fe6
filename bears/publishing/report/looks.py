"""What tells systems apart on the page: a colour, and a shape for who cannot see the colour."""

from collections.abc import Sequence

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
GLYPHS = "●■▲◆✚▼▶"
"""The same shapes as signs within a text."""


def looks(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """System to ``colour`` and ``shape`` in charts, ``mark`` (a class) and ``glyph`` in texts.

    After the seventh they are grey, since no more colours can be told apart by everyone.
    """
    return {
        name: {
            "colour": f"var(--s{at})" if at < len(SHAPES) else "var(--soft)",
            "shape": SHAPES[at % len(SHAPES)],
            "mark": f"m{min(at, len(SHAPES))}",
            "glyph": GLYPHS[at % len(SHAPES)],
        }
        for at, name in enumerate(names)
    }
