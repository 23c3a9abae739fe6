"""Mark an answer in its document before translation, and read the mark back after it.

A mark is a pair ⟦ ⟧. A text that has such brackets itself gets no mark. `join` puts the pieces of a
long text together again.
"""

import re
import unicodedata
from collections.abc import Sequence

from bears.language.scripts import HAN, KANA, SOUTH_EAST_ASIAN
from bears.language.sentences import NEWLINE

OPEN, CLOSE = "⟦", "⟧"
# Models also write the marks in these forms.
OPENS = ("⟦", "〚", "[[", "［［")
CLOSES = ("⟧", "〛", "]]", "］］")
TOKEN = re.compile("|".join(map(re.escape, OPENS + CLOSES)))

# Scripts without spaces between words: the neighbors of a character do not show where words end.
UNSPACED = re.compile(f"[{SOUTH_EAST_ASIAN}\u2e80-\u2fdf\u3006\u3100-\u31bf{KANA}{HAN}]")
HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")


def mark(text: str, answer: str) -> str | None:
    """Put ⟦ ⟧ around one occurrence of an answer.

    Return None if the text lacks the answer, or has ⟦, ⟧ or brackets that are read as them.
    Whole words take precedence over parts of words, then the same case over another, then the first
    occurrence. White space around the answer is ignored.
    """
    answer = answer.strip()
    # The lookahead finds overlapping occurrences too.
    found = re.finditer(f"(?=({re.escape(answer)}))", text, re.IGNORECASE) if answer else ()
    places = [match.span(1) for match in found]
    if not places or TOKEN.search(text):
        return None
    start, end = max(places, key=lambda at: (whole_word(text, *at), text[slice(*at)] == answer))
    return f"{text[:start]}{OPEN}{text[start:end]}{CLOSE}{text[end:]}"


def read_back(translation: str) -> tuple[str, str | None]:
    """Return a marked text without its marks, and the phrase between them.

    The phrase is None unless there is exactly one pair, well formed and not empty. The brackets
    [[ ]], 〚 〛 and ［［ ］］ count as marks, and spaces just inside the pair as part of them.
    """
    tokens = list(TOKEN.finditer(translation))
    if len(tokens) != 2 or tokens[0][0] not in OPENS or tokens[1][0] not in CLOSES:
        return TOKEN.sub("", translation), None
    opening, closing = tokens
    before, after = translation[: opening.start()], translation[closing.end() :]
    inside = translation[opening.end() : closing.start()]
    span = inside.strip()
    if not span:
        return before + after, None
    # A space inside the marks stays only if two words would otherwise become one.
    begun = before.rstrip(",;:.!?")[-1:] if before[-1:] in set(",;:.!?") else before[-1:]
    left = " " if inside != inside.lstrip() and continues(begun, span[0]) else ""
    right = " " if inside != inside.rstrip() and continues(span[-1], after[:1]) else ""
    return f"{before}{left}{span}{right}{after}", span


def whole_word(text: str, start: int, end: int) -> bool:
    """Return whether a part of a text starts and ends at word boundaries.

    In scripts without spaces, every position is a boundary. Korean words end where a particle
    starts, so any position may end a word. In 3.5, the 5 is not a whole word.
    """
    begins = start == 0 or not (continues(text[start - 1], text[start]) or _number(text, start))
    if not begins or end == len(text):
        return begins
    particle = HANGUL.match(text[end]) is not None and HANGUL.match(text[end - 1]) is not None
    return particle or not (continues(text[end - 1], text[end]) or _number(text, end))


def continues(left: str, right: str) -> bool:
    """Return whether two characters are within one word of a spaced script; either may be empty."""
    return _in_word(left) and _in_word(right)


def _in_word(character: str) -> bool:
    if not character or UNSPACED.match(character):
        return False
    return (
        character.isalnum() or character == "_" or unicodedata.category(character).startswith("M")
    )


def _number(text: str, place: int) -> bool:
    """Return whether a position is next to the point or comma of a number."""
    for point in (place - 1, place):
        around = text[point - 1 : point] + text[point + 1 : point + 2]
        if point and text[point : point + 1] in {".", ","} and len(around) == 2:
            return around.isdigit()
    return False


def join(translated: Sequence[str], originals: Sequence[str], target_spaced: bool) -> str:
    """Join translated pieces with the white space between the original ones.

    Args:
        translated: one text for each of ``originals``; white space at its ends is dropped.
        originals: the result of `split`.
        target_spaced: whether the target's script has spaces. If not, white space without a
            newline is dropped, unless two words of a spaced script would become one.

    Raises:
        ValueError: the numbers of translated and original pieces differ.
    """
    joined, gap = "", ""
    for piece, original in zip(translated, originals, strict=True):
        gap += original[: len(original) - len(original.lstrip())]
        if not original.strip():  # nothing to translate
            continue
        core = piece.strip()
        joined += _gap(gap, joined, core, target_spaced) + core
        gap = original[len(original.rstrip()) :]
    return joined + _gap(gap, joined, "", target_spaced)


def _gap(gap: str, before: str, after: str, target_spaced: bool) -> str:
    if target_spaced or NEWLINE.search(gap):
        return gap
    return gap if before and after and continues(before[-1], after[0]) else ""
