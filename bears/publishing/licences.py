"""Find the licence of a whole from the licences of its parts.

This is bookkeeping, not legal advice: it names the strictest licence among the parts, and notes
when one adapted work cannot meet two of them.
"""

from collections.abc import Iterable

# From the most permissive to the strictest; SPDX identifiers. A later version of a share-alike
# licence may be used for what was received under an earlier one (CC BY-SA 3.0 §4b).
_STRICTNESS = (
    *("CC0-1.0", "MIT", "Apache-2.0", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0"),
    *("CC-BY-NC-2.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0"),
)


def strictest(licences: Iterable[str]) -> tuple[str, list[str]]:
    """Return the licence of a whole, and remarks about it.

    Args:
        licences: SPDX identifiers. ``LicenseRef-…`` and ``NOASSERTION`` are terms of their own.

    Returns:
        The strictest identifier, and remarks. The identifier is ``NOASSERTION`` if a part states no
        licence, because then its owner has to be asked.
    """
    parts = sorted(set(licences))
    remarks = []
    own = [name for name in parts if name not in _STRICTNESS]
    if any("NC" in name for name in parts) and any(_share_alike(name) for name in parts):
        remarks.append(
            "a share-alike part and a non-commercial part cannot both be met by one adapted work; "
            "use the set as a collection whose parts keep their own licences"
        )
    if any(not name.startswith("LicenseRef-") for name in own):
        remarks.append("a part states no licence: its owner has to be asked before it is shared")
        return "NOASSERTION", remarks
    if own:
        remarks.append(f"{', '.join(own)}: read its own terms, which hold for the whole")
        return own[0], remarks
    return max(parts, key=_STRICTNESS.index, default="NOASSERTION"), remarks


def _share_alike(name: str) -> bool:
    return "-SA-" in name and "NC" not in name
