"""Find numbers and dates that were lost or invented."""

import re
from collections.abc import Mapping, Sequence

from bears.files.intake.yaml_text import table_of
from bears.language import english
from bears.language.numbers import Number, chains, digit_numbers, plain, values
from bears.language.profile import Language, Numbers
from bears.language.text import Text

_TABLE = table_of(__file__)
_POWER = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_MONTH = "|".join(english.MONTHS)

_MEANINGLESS = re.compile("|".join(_TABLE["meaningless"]), re.IGNORECASE)
_TWO_DATES_IN_ONE = re.compile(rf"(?<!\d)(\d{{4}})(\d{{1,2}})(?= (?:{_MONTH})\b)", re.IGNORECASE)
"""Dates that lost the dash between them: 27 October 178227 May 1840."""


def comparable(text: str) -> str:
    """Return a plain text with powers as 10^6, and without digits that count nothing.

    Removed are notes and pages, indices of formulas, powers of units, and traces of a broken
    conversion of web pages.
    """
    powers = _POWER.sub(lambda found: "^" + found.group().translate(_SUPERSCRIPTS), text)
    kept = _MEANINGLESS.sub(" ", plain(powers))
    kept = re.sub(r"(?<![\d\w])\.(?=\d)", "0.", kept)
    return _TWO_DATES_IN_ONE.sub(r"\1; \2", kept)


_MULTIPLIERS: Mapping[str, int] = {**english.MULTIPLIERS, **_TABLE["multipliers"]}

_RANGE_END = re.compile(r"\d{4} ?[-–—/] ?(\d{1,2})(?!\d)")
"""1947–48 may become 1947–1948."""
_DECADE = re.compile(r"(?<!\d)(\d{2,4})'?s\b|'(\d{2})(?!\d)")
"""'70s; the 1970s, which may become the 70s; the 1700s, which are the 18th century."""
_AFTERNOON = re.compile(r"(?<!\d)(\d{1,2})(?:[:.]\d\d)? ?p\.? ?m\b", re.IGNORECASE)
_PAIR = re.compile(r"(?<![\d/])(\d{1,2})[/-](\d{1,2})(?![\d/])")
"""9/11 may become 911."""
_REACH = 25
"""A number and the far end of the month next to it are closer than this."""
_LONG = 3
"""How many digits a number needs that cannot be a word."""
_SENTENCE = 3
"""If this many numbers are lost, a sentence is lost."""
_DIGITS = re.compile(rf"\d(?:.{{0,{_REACH}}}\d)*", re.DOTALL)
"""Numbers with little text between them."""


def changed_number(text: Text, language: Language) -> str | None:
    """Find a number that became another one, or so many lost ones that a sentence is missing."""
    missing, invented = _compared(text, language)
    wrong = (missing and invented) or len(missing) >= _SENTENCE
    return _message(missing, invented) if wrong else None


def numbers(text: Text, language: Language) -> str | None:
    """Find a number or month of the source that is missing, or one that the source lacks."""
    return _message(*_compared(text, language)) or None


def _message(missing: Sequence[str], invented: Sequence[str]) -> str:
    return "; ".join(
        f"{what}: {', '.join(dict.fromkeys(items))}"
        for what, items in (("missing", missing), ("not in the source", invented))
        if items
    )


def _compared(text: Text, language: Language) -> tuple[list[str], list[str]]:
    """Return which numbers are missing, and which are not in the source.

    Numbers are compared as values, so 500,000 may become 50萬 and 19th 十九. Only longer numbers
    count as invented, because shorter ones may have been words (May, fifth, twenty).
    """
    source, translation = comparable(text.source), comparable(text.translation)
    there = values(translation, language.numbers)
    asked = list(digit_numbers(source, _MULTIPLIERS))
    forms = _Forms(source)
    missing = [number.text for number in asked if not forms.found(number, there)]
    missing += [
        english.MONTHS[month - 1].title()
        for month in sorted(_months(source))
        if not _month_found(month, translation, language.numbers)
    ]
    invented = _invented(asked, forms, source, translation, language)
    if invented and english.spelled_numbers(source):
        invented = []
    return missing, invented


def _months(source: str) -> set[int]:
    # Months count only next to a number, and searching the whole text would take longer.
    return {
        month
        for near in _DIGITS.finditer(source)
        for month in english.months(source[max(0, near.start() - _REACH) : near.end() + _REACH])
    }


class _Forms:
    """The numbers of a source that a translation may write with other digits, as they appear."""

    def __init__(self, source: str) -> None:
        self.range_ends = set(_RANGE_END.findall(source))
        self.decades = {number for found in _DECADE.findall(source) for number in found}
        self.afternoons = set(_AFTERNOON.findall(source))
        pairs = [pair.groups() for pair in _PAIR.finditer(source)]
        self.joined = {float("".join(pair)) for pair in pairs}
        self.parts = {part: float("".join(pair)) for pair in pairs for part in pair}

    def found(self, number: Number, there: set[float]) -> bool:
        """Return whether ``there`` has the number in any of its forms."""
        written, known = number.text, set(number.values)
        if written in self.decades:
            known |= {value % 100 for value in number.values}
            known |= {value // 100 + 1 for value in number.values if value % 100 == 0}
        if written in self.afternoons:
            known |= {value + 12 for value in number.values}
        if written in self.parts:
            known.add(self.parts[written])
        if known & there:
            return True
        short = written in self.range_ends | self.decades
        return short and bool(known & {value % 10**number.digits for value in there})


def _month_found(month: int, translation: str, numbers: Numbers) -> bool:
    pattern = rf"{numbers.months[month - 1]}|[-/.]0?{month}(?!\d)|(?<!\d)0?{month}[-/.]"
    return re.search(pattern, translation, re.IGNORECASE) is not None


def _invented(
    asked: Sequence[Number], forms: _Forms, source: str, translation: str, language: Language
) -> list[str]:
    there = digit_numbers(translation, language.numbers.multipliers)
    long = [number for number in there if number.digits >= _LONG]
    known = {value for number in asked for value in number.values}
    if all(number.values & known for number in long):
        return []
    known |= values(source, language.numbers)
    known |= forms.joined
    chained = "".join(
        chain for chain, total in chains(translation, language.numbers) if total in known
    )
    long = [number for number in long if number.text.strip() not in chained]
    endings = {value % 100 for value in known}
    return [
        number.text
        for number in long
        if not number.values & known
        and not (number.digits == 4 and any(value % 100 in endings for value in number.values))
    ]
