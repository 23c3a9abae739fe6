"""Which language a text is in, told by its letters: a library's model of 140 languages."""

from collections.abc import Set
from functools import cache
from typing import Any

SURE = 0.95
"""Least probability of a language and its kin that counts as knowing it."""
# Written so alike that a page does not always tell them apart, or known to the model only as the
# other: whoever declares one of them is not contradicted by another one.
_KIN = [
    set(row.split())
    for row in (
        *("bs hr sr", "id jv ms su", "nb nn no", "ar ary arz", "ckb ku sdh", "bcl ceb fil tl"),
        *("hbo he yi", "en pcm", "nds de", "st tn nso", "xh zu", "sd ur", "bo dz", "az azb"),
        *("es ast ext", "hi mai"),
    )
]


@cache
def _model() -> Any:
    # A second, which whoever has texts of other scripts does not spend.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def kin(language: str) -> Set[str]:
    """The languages that one may be taken for, itself among them."""
    return {language}.union(*(group for group in _KIN if language in group))


def identified(text: str) -> str:
    """The primary subtag of the language of ``text``; empty where that is not sure."""
    ranked = _model().rank(text)
    best = str(ranked[0][0])
    mass = sum(float(share) for name, share in ranked if name in kin(best))
    # zxx: no language, such as program code.
    return best if mass > SURE and best != "zxx" else ""
