"""Joining the translations of a long text's pieces, which `bears.language.sentences` cuts."""

from collections.abc import Sequence

from bears.language.sentences import NEWLINE
from bears.translation.spans import continues


def join(translated: Sequence[str], originals: Sequence[str], target_spaced: bool) -> str:
    """Put translated pieces together with the white space that stood between the original ones.

    Args:
        translated: one text for each of ``originals``; white space at its ends is dropped.
        originals: what `split` gave.
        target_spaced: whether the target's script has spaces. Where it has not, white space
            without a newline is dropped, unless two words of a spaced script would become one.

    Raises:
        ValueError: there are not as many translated pieces as original ones.
    """
    joined, gap = "", ""
    for piece, original in zip(translated, originals, strict=True):
        gap += original[: len(original) - len(original.lstrip())]
        if not original.strip():  # there was nothing to translate
            continue
        core = piece.strip()
        joined += _gap(gap, joined, core, target_spaced) + core
        gap = original[len(original.rstrip()) :]
    return joined + _gap(gap, joined, "", target_spaced)


def _gap(gap: str, before: str, after: str, target_spaced: bool) -> str:
    if target_spaced or NEWLINE.search(gap):
        return gap
    return gap if before and after and continues(before[-1], after[0]) else ""
