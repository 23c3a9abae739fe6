"""Read the numbers in a text, however its language writes them."""

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from bears.language.profile import Numbers

_DIGITS = re.compile(r"\d+(?:[.,٫٬']\d+|[ \u2009]\d{3}(?!\d))*")
_JOINT = re.compile(
    r" ?(?:[-–—~〜/至到或、和與及]|(?:to|or|and|bis|do|in)\b|から|에서) ?(?:US)?[$£€¥]? ?(?=\d)"
)
"""Text between two numbers that share a multiplier: £15–19 million."""
_POWER = re.compile(r"10 ?[\^的] ?(\d+)")
"""10^13 may have become 1013 elsewhere."""
_GROUPED = re.compile(r"\d{1,3}(?:([.,' \u2009])\d{3})(?:\1\d{3})*")


@dataclass(frozen=True, slots=True)
class Number:
    """A number that is written with digits.

    Args:
        text: as it is written.
        values: its possible values: 1,234 may be 1234 or 1.234.
        digits: how many digits it has.
    """

    text: str
    values: frozenset[float]
    digits: int


def plain(text: str) -> str:
    """Return a text in its compatibility form, with fractions and powers separated from digits."""
    if unicodedata.is_normalized("NFKC", text):
        return text
    # NFKC turns 10² into 102 and 1½ into 11⁄2.
    return unicodedata.normalize("NFKC", text.translate(_other_numbers()))


@cache
def _other_numbers() -> Mapping[int, str]:
    """Map the characters of category No, such as powers and fractions, to spaced ones."""
    found = (i for i in range(0x20000) if unicodedata.category(chr(i)) == "No")
    return {i: f" {chr(i)} " for i in found}


def digit_numbers(text: str, multipliers: Mapping[str, int]) -> Iterator[Number]:
    """Yield the numbers of a plain text that have digits, times the multiplier after them."""
    for found in _DIGITS.finditer(text):
        multiplied = _multiplied(text, found.end(), multipliers)
        bare = _readings(found.group())
        read = {value * multiplied.factor for value in bare}
        if multiplied.maybe:
            read |= set(bare)
        shown = found.group() + multiplied.text
        digits = sum(c.isdigit() for c in found.group())
        yield Number(shown, frozenset(round(value, 6) for value in read), digits)


class _Multiplied(NamedTuple):
    """What follows a number.

    Attributes:
        factor: the product of the multipliers.
        text: the multipliers as they are written.
        maybe: whether they may be no multipliers, or belong to another number.
    """

    factor: float
    text: str = ""
    maybe: bool = False


def _multiplied(text: str, end: int, multipliers: Mapping[str, int]) -> _Multiplied:
    if not multipliers:
        return _Multiplied(1)
    after, each = _multipliers(tuple(multipliers))
    found = after.match(text, end)
    joint = None if found else _JOINT.match(text, end)
    if joint and (other := _DIGITS.match(text, joint.end())):
        found = after.match(text, other.end())
    if not found:
        return _Multiplied(1)
    known = {name.casefold(): value for name, value in multipliers.items()}
    words = each.findall(found["words"])
    # The Turkish ı of mıllion matches an i, although it is another letter.
    factor = math.prod((known.get(name.casefold(), 1) for name in words), start=1.0)
    maybe = joint is not None or all(map(_abbreviation, words))
    return _Multiplied(factor, "" if joint else found.group(), maybe)


def _abbreviation(name: str) -> bool:
    """Return whether a multiplier may be something else: 5 m may be meters."""
    return name.isascii() and len(name) < 3


@cache
def _multipliers(names: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of all multipliers after a number, and of a single one."""
    either = _either(names)
    after = rf"[ \u00a0-]?(?:多|餘|余)?(?P<words>(?:{either})+)"
    return re.compile(after, re.I), re.compile(either, re.I)


def _either(names: tuple[str, ...]) -> str:
    longest_first = sorted(names, key=len, reverse=True)
    ends = {name: r"(?![^\W\d_])" if _abbreviation(name) else "" for name in names}
    return "|".join(re.escape(name) + ends[name] for name in longest_first)


def values(text: str, numbers: Numbers) -> set[float]:
    """Return every value that a plain text of the language contains, in whole or in part."""
    multiplied = {value for n in digit_numbers(text, numbers.multipliers) for value in n.values}
    bare = {value for found in _DIGITS.finditer(text) for value in _readings(found.group())}
    powers = {float(f"10{found[1]}") for found in _POWER.finditer(text)}
    if numbers.half and numbers.half in text:
        powers |= {value + 0.5 for value in bare | set(_numerals(text, numbers))}
    chained = {total for _, total in chains(text, numbers)}
    return multiplied | bare | powers | chained | set(_numerals(text, numbers))


@lru_cache(maxsize=4096)
def _readings(text: str) -> tuple[float, ...]:
    """Return the possible values of a run of digits and separators."""
    return tuple(_read(text))


def _read(text: str) -> Iterator[float]:
    parts = [part for part in re.split(r"\D", text) if part]
    if _GROUPED.fullmatch(text):
        yield float("".join(parts))
    separators = {c for c in text if not c.isdigit()}
    if len(parts) == 1:
        yield float(parts[0])
    elif len(parts) == 2 and separators <= set(".,٫"):
        yield float(".".join(parts))
        # "June 9,1972" lacks a space.
        if "," in separators and not _GROUPED.fullmatch(text):
            yield from (float(part) for part in parts)
    elif len(separators) == 2 and re.fullmatch(r".*[.,]\d+", text):
        # 1,234.5 here, 1.234,5 there
        yield float("".join(parts[:-1]) + "." + parts[-1])
    elif not _GROUPED.fullmatch(text):
        # 23.11.1946, or 1990,1991: not one number at all
        yield from (float(part) for part in parts)
        # 1,00,000 in India
        yield float("".join(parts))


def chains(text: str, numbers: Numbers) -> Iterator[tuple[str, float]]:
    """Yield chains of numbers and their totals, part by part: 1億2000萬 is 120,000,000."""
    if not numbers.multipliers:
        return
    for found in _chain(tuple(numbers.multipliers)).finditer(text):
        total = 0.0
        for number in digit_numbers(found.group(), numbers.multipliers):
            total += max(number.values)
            yield found.group(), total


@cache
def _chain(names: tuple[str, ...]) -> re.Pattern[str]:
    link = rf"(?<![\d,.])\d[\d,.]*[ ]?(?:{_either(names)})+"
    return re.compile(rf"(?:{link}[ ]?)+\d*")


def _numerals(text: str, numbers: Numbers) -> Iterator[float]:
    if not numbers.numerals:
        return
    for found in re.finditer(f"[{''.join(map(re.escape, numbers.numerals))}]+", text):
        run = [numbers.numerals[character] for character in found.group()]
        yield from (float(value) for value in run)
        # A year: 一九四六
        if all(value < 10 for value in run):
            yield float("".join(map(str, run)))
        yield float(_composed(run))


def _composed(run: list[int]) -> int:
    """Compute the value of numerals: 三百五十萬 is 3,500,000.

    A digit is multiplied by the unit after it, and their sum by the myriad after that.
    """
    total = section = digit = 0
    for value in run:
        if value < 10:
            digit = value
        elif value < 10_000:
            section += (digit or 1) * value
            digit = 0
        else:
            total += (section + digit or 1) * value
            section = digit = 0
    return total + section + digit
