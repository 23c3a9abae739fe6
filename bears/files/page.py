"""Pages for a browser that run no code but their own: the style, the policy and the data."""

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from bears.files.intake.files import json_value


def part(package: str, name: str) -> str:
    """Read a file that ships with a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


@cache
def words_of(package: str) -> dict[str, list[str]]:
    """Return the texts of a package's pages: key to text in English and in Chinese."""
    table: dict[str, list[str]] = json_value(part(package, "words.json").encode(), "words.json")
    return table


def style_of(package: str, name: str) -> str:
    """Return the style that all pages have, and that of a page in a package."""
    return part("bears.files", "page.css") + part(package, name)


def policy(style: str, script: str) -> str:
    """Return a content security policy that lets a browser use these two and nothing else."""
    digests = (hashlib.sha256(text.encode()).digest() for text in (style, script))
    own = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
    return (
        f"default-src 'none'; style-src {own[0]}; script-src {own[1]}; base-uri 'none'; "
        "form-action 'none'"
    )


def as_data(value: Mapping[str, Any]) -> str:
    """Return JSON for a script element; nothing in it can end that element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
