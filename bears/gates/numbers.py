"""Numbers and dates were lost or invented."""

import re
from collections.abc import Sequence

from bears.language import english
from bears.language.numbers import Number, digit_numbers, plain, values
from bears.language.profile import Language, Numbers
from bears.language.text import Text

# Japanese, Chinese and Korean sources multiply by characters.
_MULTIPLIERS = {
    **english.MULTIPLIERS,
    **dict.fromkeys("万萬만", 10**4),
    **dict.fromkeys("亿億억", 10**8),
    "百": 100,
    "千": 1000,
    "十": 10,
}

_REACH = 25
"""More characters than lie between a number and the other end of the month beside it."""
_DIGITS = re.compile(rf"\d(?:.{{0,{_REACH}}}\d)*", re.DOTALL)
"""Numbers with little between them."""


def gate(text: Text, language: Language) -> str | None:
    """A number or month of the source is missing, or one is there that the source lacks.

    Numbers are compared as values, so 500,000 may come back as 50萬 and 19th as 十九. Only the
    longer numbers count as invented: the shorter ones may have been words (May, fifth, twenty).
    """
    source, translation = plain(text.source), plain(text.translation)
    there = values(translation, language.numbers)
    asked = list(digit_numbers(source, _MULTIPLIERS))
    missing = [number.text for number in asked if not _found(number, source, there)]
    missing += [
        english.MONTHS[month - 1].title()
        for month in sorted(_months(source))
        if not _month_found(month, translation, language.numbers)
    ]
    invented = _invented(asked, source, translation, language)
    if invented and english.spelled_numbers(source):
        invented = []
    parts = [
        f"{what}: {', '.join(dict.fromkeys(items))}"
        for what, items in (("missing", missing), ("not in the source", invented))
        if items
    ]
    return "; ".join(parts) or None


def _months(source: str) -> set[int]:
    # Months count beside a number alone, and the rest of a text takes longer to search.
    return {
        month
        for near in _DIGITS.finditer(source)
        for month in english.months(source[max(0, near.start() - _REACH) : near.end() + _REACH])
    }


def _found(number: Number, source: str, there: set[float]) -> bool:
    if number.values & there:
        return True
    # 1947–48 may become 1947–1948, and the 1970s the 70s.
    short = next(iter(number.values)) if number.digits == 2 else None
    if short is not None and re.search(rf"\d{{4}}\s?[-–—/]\s?{re.escape(number.text)}", source):
        return any(value % 100 == short for value in there)
    if number.digits == 4 and re.search(rf"{re.escape(number.text)}'?s\b", source):
        return any(value % 100 in there for value in number.values)
    return False


def _month_found(month: int, translation: str, numbers: Numbers) -> bool:
    pattern = rf"{numbers.months[month - 1]}|[-/.]0?{month}(?!\d)|(?<!\d)0?{month}[-/.]"
    return re.search(pattern, translation, re.IGNORECASE) is not None


def _invented(
    asked: Sequence[Number], source: str, translation: str, language: Language
) -> list[str]:
    least = language.thresholds.invented_digits
    there = digit_numbers(translation, language.numbers.multipliers)
    long = [number for number in there if number.digits >= least]
    known = {value for number in asked for value in number.values}
    if all(number.values & known for number in long):
        return []
    known |= values(source, language.numbers)
    endings = {value % 100 for value in known}
    return [
        number.text
        for number in long
        if not number.values & known
        and not (number.digits == 4 and any(value % 100 in endings for value in number.values))
    ]
