"""Remove marks around numbers that mean nothing to a reader, and write the others in one way."""

import re

from bears.language import english
from bears.language.numbers import plain

_POWER = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_MONTH = "|".join(english.MONTHS)

_MEANINGLESS = re.compile(
    r"\[(?:note|nb|n|註|注)?\.? ?\d+\]"  # [4], [Note 4]
    r"|(?<=[.,;!?\"”'’)\]]):\d+(?:[-–:]+\d+)*"  # pages of a source: end.":12-11:359
    r"|(?<=[{ ])'\d+':"  # keys of a dictionary that was printed: {'1': ", '2': "
    r"|(?<=[a-z]\n)\d\b"  # O₂ with its index on the next line
    r"|(?<=[a-z])\^?\d(?![\d.,]*\d)",  # units, formulas, codes: km2, m^3, CO2, H2O, F4U
    re.IGNORECASE,
)
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
