"""Texts in other encodings than UTF-8, which are marked or declared, never guessed."""

import codecs

from bears.errors import FormatError
from bears.files.intake.files import decoded

MEANT = {"iso8859-1": "cp1252", "ascii": "cp1252"}
"""What pages mean by these names, by the WHATWG's Encoding Standard."""
OF_PYTHON = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Encodings that files do not use; some take hours for a long text."""


def text_and_encoding(data: bytes, where: str, declared: str = "") -> tuple[str, str]:
    """Return ``data`` as text, and its encoding: ``utf-8``, or the marked or declared one.

    Args:
        data: UTF-8; UTF-16 with its byte order mark; or in what is ``declared``.
        where: the origin, for messages.
        declared: the encoding, unless it is UTF-8.

    Raises:
        FormatError: no encoding fits, or it holds a NUL.
    """
    marked = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else ""
    if not marked:
        try:
            return decoded(data, where), "utf-8"
        except FormatError:
            if not declared or b"\0" in data:
                raise
    name = marked or declared
    try:
        known = codecs.lookup(name).name
        if known in OF_PYTHON:
            raise LookupError("not an encoding of files")
        name = marked or MEANT.get(known, known)
        text = data.decode(name)
        # UTF-7 and UTF-16 can give halves of characters.
        text.encode("utf-8")
    except (LookupError, UnicodeError, ValueError) as error:
        raise FormatError(f"{where}: not UTF-8, and not {name!r:.40} either ({error})") from None
    if "\0" in text:
        raise FormatError(f"{where}: it holds a NUL, which texts do not have")
    return text, name
