"""What stands at the edges of many sheets alike: headers, footers, menus."""

import re
from collections import Counter
from collections.abc import Sequence

LONGEST = 300
"""Characters. What is longer is no header."""


def margins(
    sheets: Sequence[Sequence[str]], edge: int, share: float, least: int = 3
) -> list[set[int]]:
    """Which texts of each sheet are a margin.

    Args:
        sheets: the texts of each, in order.
        edge: so many texts at the begin and at the end of a sheet can be margins.
        share: of the sheets that have a text at their edge for it to be one; numbers in it may be
            others on each.
        least: of so many sheets, whatever the share.
    """
    edges = [{*range(edge), *range(len(sheet) - edge, len(sheet))} for sheet in sheets]
    found = [
        {i: form for i, text in enumerate(sheet) if i in near and (form := _form(text))}
        for sheet, near in zip(sheets, edges, strict=True)
    ]
    counts = Counter(form for forms in found for form in set(forms.values()))
    enough = max(least, share * len(sheets))
    return [{i for i, form in forms.items() if counts[form] >= enough} for forms in found]


def _form(text: str) -> str:
    return re.sub(r"\d+", "0", " ".join(text.split()).casefold()) if len(text) <= LONGEST else ""
