"""Find the texts that many sheets have at their edges: headers, footers, menus."""

import re
from collections import Counter
from collections.abc import Sequence

LONGEST = 300
"""The most characters of a margin."""
LEAST = 3
"""The least number of sheets with the same margin."""


def margins(
    sheets: Sequence[Sequence[str]], edge: int, share: float, counted: bool = False
) -> list[set[int]]:
    """Return the positions of the margins in each sheet.

    Args:
        sheets: the texts of each, in order.
        edge: how many texts at the beginning and at the end of a sheet can be margins. In a short
            sheet there are fewer, since its middle is never a margin.
        share: the share of the sheets, and three of them at least, that have a margin.
        counted: whether its numbers may differ from sheet to sheet.
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
