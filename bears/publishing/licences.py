"""Which licence follows for a whole from the licences of its parts.

This is bookkeeping, not legal advice: it names the strictest licence among the parts, and says
where two of them cannot be met by one adapted work.
"""

from collections.abc import Iterable

# From the most permissive to the strictest; SPDX identifiers. A later version of a share-alike
# licence may be used for what was received under an earlier one (CC BY-SA 3.0 §4b).
_STRICTNESS = (
    "CC0-1.0",
    "MIT",
    "Apache-2.0",
    "CC-BY-3.0",
    "CC-BY-4.0",
    "CC-BY-SA-3.0",
    "CC-BY-SA-4.0",
    "CC-BY-NC-2.0",
    "CC-BY-NC-4.0",
    "CC-BY-NC-SA-4.0",
)


def follows(licences: Iterable[str]) -> tuple[str, list[str]]:
    """The licence that follows for a whole, and what a person has to know about it.

    Args:
        licences: SPDX identifiers; ``LicenseRef-…`` and ``NOASSERTION`` are terms of their own.

    Returns:
        The strictest identifier, and remarks; ``NOASSERTION`` where a part states no licence,
        since nothing follows from that but that its owner has to be asked.
    """
    parts = sorted(set(licences))
    remarks = []
    own = [name for name in parts if name not in _STRICTNESS]
    if any("NC" in name for name in parts) and any(_share_alike(name) for name in parts):
        remarks.append(
            "a share-alike part and a non-commercial part cannot both be met by one adapted work; "
            "use the set as a collection whose parts keep their own licences"
        )
    unstated = [name for name in own if not name.startswith("LicenseRef-")]
    if unstated:
        remarks.append("a part states no licence: its owner has to be asked before it is shared")
        return "NOASSERTION", remarks
    if own:
        remarks.append(f"{', '.join(own)}: read its own terms, which hold for the whole")
        return own[0], remarks
    return max(parts, key=_STRICTNESS.index, default="NOASSERTION"), remarks


def _share_alike(name: str) -> bool:
    return "-SA-" in name and "NC" not in name
