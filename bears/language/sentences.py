"""Find where sentences end, and split long texts there."""

import re
from collections.abc import Iterator
from unicodedata import category, east_asian_width

from bears.files.intake.yaml_text import table_of

CLOSERS = "\"'”’»›)\\]}）」』】〉》〕］｝"
ASIAN = "。！？｡．‼⁇⁈⁉।॥"
# A match consumes each run, so that the time is linear in the text.
STOP = re.compile(
    rf"(?P<end>[.!?…؟۔{ASIAN}]+)(?P<close>[{CLOSERS}]*)(?P<gap>\s*)|[\n\u2028\u2029]\s*"
)
PAUSE = re.compile(r"\s+|[，、；：,;:](?!\d)")
NEWLINE = re.compile("[\n\r\x85\u2028\u2029]")
TOKEN_BEFORE = re.compile(r"[^\s(\[\"'“‘„«»/—–-]+\Z")
_TABLE = table_of(__file__)
# A point after one of these, after a single letter or after a number of one or two digits is not
# taken for the end of a sentence: a missed end costs nothing, a wrong one cuts a sentence.
ABBREVIATIONS = frozenset(_TABLE["abbreviations"].split())
# These are words too, so they are abbreviations only before a number.
BEFORE_NUMBERS = frozenset(_TABLE["before_numbers"].split())
INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]|\d{1,2}")
# Characters after a closed quotation that continue its sentence.
AFTER_QUOTE = tuple("，、,;；:：と")


def split(text: str, limit: int) -> list[str]:
    """Cut a text into pieces of at most ``limit`` characters; joined, they are the text.

    A piece ends at the last sentence end that fits, or else at the last pause (white space or a
    comma), or else anywhere except within a character.

    Raises:
        ValueError: the limit is not positive.
    """
    if limit < 1:
        raise ValueError(f"a piece needs a limit of at least 1 character, not {limit}")
    ends = [*sentence_ends(text), len(text)]
    pieces, start, position = [], 0, 0
    while start < len(text):
        reach, cut = start + limit, start
        while position < len(ends) and ends[position] <= reach:
            cut = max(cut, ends[position])
            position += 1
        if cut == start:
            cut = _pause(text, start, reach) or _hard(text, start, reach)
        cut = _with_gap(text, cut, reach)
        pieces.append(text[start:cut])
        start = cut
    return pieces


def sentence_ends(text: str) -> Iterator[int]:
    """Yield where sentences and their closing quotes end, before the space after them."""
    for stop in STOP.finditer(text):
        if stop["end"] is None:
            yield stop.start() + 1
        elif _ends(text, stop):
            yield stop.end("close")
        if stop["gap"] and (newline := NEWLINE.search(stop["gap"])):
            yield stop.start("gap") + newline.end()


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return where each sentence begins and ends, without the white space around it."""
    spans, start = [], 0
    for end in [*sentence_ends(text), len(text)]:
        if sentence := text[start:end].strip():
            begin = text.index(sentence, start)
            spans.append((begin, begin + len(sentence)))
        start = max(start, end)
    return spans


def _ends(text: str, stop: re.Match[str]) -> bool:
    follower = text[stop.end() : stop.end() + 1]
    if not follower:
        return True
    if any(character in ASIAN for character in stop["end"]):
        decimal = stop["end"] == "．" and follower.isdigit()
        return not (decimal or (stop["close"] and follower in AFTER_QUOTE))
    if not stop["gap"]:
        return stop["end"][-1] in "!?…" and east_asian_width(follower) in "WF" and not stop["close"]
    if follower.islower():
        return False
    return stop["end"] != "." or not _abbreviated(text, stop.start(), follower)


def _abbreviated(text: str, point: int, follower: str) -> bool:
    token = TOKEN_BEFORE.search(text, max(0, point - 20), point)
    if token is None:
        return False
    word = token[0].lower()
    if word in BEFORE_NUMBERS:
        return follower.isdigit()
    return word in ABBREVIATIONS or INITIALS.fullmatch(word) is not None


def _pause(text: str, start: int, reach: int) -> int | None:
    """Return the last place up to ``reach`` where a reader would pause, after some text."""
    ends = [pause.end() for pause in PAUSE.finditer(text, start, reach)]
    cut = reach if text[reach : reach + 1].isspace() else max(ends, default=start)
    return cut if text[start:cut].strip() else None


def _hard(text: str, start: int, reach: int) -> int:
    """Return ``reach``, or the place before the character that it would split."""
    for cut in range(min(reach, len(text)), start, -1):
        following = text[cut : cut + 1]
        joined = following == "\u200d" or text[cut - 1] == "\u200d"
        if not joined and not (following and category(following).startswith("M")):
            return cut
    return reach


def _with_gap(text: str, cut: int, reach: int) -> int:
    """Move ``cut`` behind the white space after it, as far as the limit allows."""
    while cut < min(reach, len(text)) and text[cut].isspace():
        cut += 1
    return cut
