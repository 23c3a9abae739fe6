"""What stands at the edges of many sheets alike: headers, footers, menus."""

import re
from collections import Counter
from collections.abc import Sequence

LONGEST = 300
"""Characters. What is longer is no header."""
LEAST = 3
"""Sheets that have a margin in common."""


def margins(
    sheets: Sequence[Sequence[str]], edge: int, share: float, counted: bool = False
) -> list[set[int]]:
    """Which texts of each sheet are a margin.

    Args:
        sheets: the texts of each, in order.
        edge: so many texts at the begin and at the end of a sheet can be margins, of a short one
            fewer: what stands in its middle is none.
        share: of the sheets, and three of them, have a text at their edge for it to be a margin.
        counted: whether its numbers may be others on each sheet.
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
