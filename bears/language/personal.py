"""Mask secrets and personal data in what users wrote."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

import phonenumbers
from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.core.scan import scan_line
from detect_secrets.settings import transient_settings
from langcodes import Language
from phonenumbers import Leniency, PhoneNumberMatcher
from stdnum import iban, isbn, luhn

from bears.files.intake.yaml_text import table_of
from bears.language.tags import primary

_TABLE = table_of(__file__)
EMAIL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]+@[\w-]+(?:\.[\w-]+)+")
GROUPED = re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?![\w-])")
"""Digits in groups, as on cards."""
ACCOUNT = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
TOKEN = re.compile(r"[\w+/=.~-]{16,}", re.ASCII)
RUN = re.compile(r"[A-Za-z0-9]{16,}")
LEAST_BITS, LETTERS_BITS = 3.0, 4.3
"""The entropy per character above which a run of letters and digits, or of letters alone, is of a
secret."""
WORTH = re.compile(r"[\d@=:]|\S{16}|-----")
"""What every secret has. A text without it is not searched, which would take milliseconds."""
SAID = re.compile(
    rf"(?i:(?<![a-z])(?:{'|'.join(_TABLE['called'])})"
    rf"\s*(?:[:=：]|(?:{'|'.join(_TABLE['between'])})(?:(?<![a-z])|(?![a-z])))\s*)"
    r"[\"'「]?([^\s\"',;\u0080-\uffff]{6,})"
)
"""Where a password is given; only a word with a digit or a capital within is one."""
MIXED = re.compile(r"(?<![^\s\"'])(?=\S*[a-z])(?=\S*[A-Z])(?=\S*\d)[\w-]+[@#$%^&*!][\w@#$%^&*!-]+")
"""A word with small and capital letters, digits and a sign within."""
DIGITS = 10
"""A number with signs between its groups and as many digits is a telephone number."""
USUAL = ("US", "GB")
"""Regions whose numbers are recognized in texts of any language, beside its own."""


def masked(text: str, language: str) -> tuple[str, Counter[str]]:
    """Return a text in which ``[email]``, ``[phone]`` and so on stand for what must not be kept.

    Keys and passwords are those that detect-secrets knows, and long tokens of high entropy;
    telephone numbers those of phonenumbers, for the regions of the language; card and account
    numbers have right check digits. Names and addresses are not recognized.

    Args:
        language: BCP 47 tag of the text.

    Returns:
        The text, and how often each kind was masked.
    """
    kinds: Counter[str] = Counter()
    parts, at = [], 0
    for start, end, kind in sorted(_found(text, language), key=lambda each: (each[0], -each[1])):
        if start >= at:
            parts += [text[at:start], f"[{kind}]"]
            kinds[kind] += 1
        at = max(at, end)
    return "".join([*parts, text[at:]]), kinds


def _found(text: str, language: str) -> Iterator[tuple[int, int, str]]:
    if not WORTH.search(text):
        return
    for match in EMAIL.finditer(text):
        yield *match.span(), "email"
    for match in GROUPED.finditer(text):
        if luhn.is_valid(re.sub(r"\D", "", match[0])):
            yield *match.span(), "card"
    for match in ACCOUNT.finditer(text):
        if iban.is_valid(match[0]):
            yield *match.span(), "account"
    for match in TOKEN.finditer(text):
        if any(map(_random, RUN.findall(match[0]))):
            yield *match.span(), "secret"
    for match in MIXED.finditer(text):
        yield *match.span(), "secret"
    for match in SAID.finditer(text):
        if re.search(r"\d|[a-z][A-Z]", match[1]):
            yield *match.span(1), "secret"
    with transient_settings({"plugins_used": _plugins()}):
        for line in set(text.splitlines()):
            for secret in scan_line(line):
                if value := secret.secret_value:
                    for match in re.finditer(re.escape(value), text):
                        yield *match.span(), "secret"
    for region in dict.fromkeys((*_regions(language), *USUAL)):
        for found in PhoneNumberMatcher(text, region, leniency=Leniency.POSSIBLE):
            within = re.search(r"[\w-]$", text[: found.start], re.ASCII)
            if _telephone(found) and not within:
                yield found.start, found.end, "phone"


def _random(run: str) -> bool:
    shares = [count / len(run) for count in Counter(run).values()]
    bits = -sum(share * math.log2(share) for share in shares)
    return not run.isdecimal() and bits > (LETTERS_BITS if run.isalpha() else LEAST_BITS)


def _telephone(found: phonenumbers.PhoneNumberMatch) -> bool:
    digits, groups = re.sub(r"\D", "", found.raw_string), re.findall(r"\d+", found.raw_string)
    if len(digits) == 13 and isbn.is_valid(digits):
        return False
    return phonenumbers.is_valid_number(found.number) or (
        len(digits) >= DIGITS
        and max(map(len, groups)) > 2
        and (len(groups) > 2 or found.raw_string.startswith(("+", "(")))
    )


@cache
def _plugins() -> list[dict[str, str]]:
    """Return the detectors of detect-secrets that know a form; the others take every word."""
    known: dict[str, type] = get_mapping_from_secret_type_to_class()
    names = sorted(each.__name__ for each in known.values())
    return [{"name": name} for name in names if "HighEntropy" not in name]


def _regions(language: str) -> list[str]:
    """Return the region that a tag names, and the one in which most speak its language."""
    tags = (Language.get(tag) for tag in (language, primary(language)))
    return [region for tag in tags if (region := tag.maximize().territory)]
