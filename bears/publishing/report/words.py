"""Texts of the page in both of its languages, and its numbers with their units."""

import re
from typing import Any

from markupsafe import Markup, escape

from bears.files.page import words_of
from bears.files.visible import one_line

PACKAGE = "bears.publishing.report"
LANGUAGES = ("en", "zh-Hant")
BETWEEN = " / "
"""Separates names in a list; a name may contain commas."""


def words() -> dict[str, list[str]]:
    """Return key to text in each of `LANGUAGES`; ``{name}`` is a value, ``*…*`` is emphasized."""
    return words_of(PACKAGE)


def phrase(key: str, **values: Any) -> Markup:
    """Return a text in every language as HTML; the page shows the one that its reader chose."""
    spans = []
    for language, text in zip(LANGUAGES, words()[key], strict=True):
        # The words of the table are escaped too, because they are text and not markup.
        shown = str(escape(text.replace(" %", "\u00a0%")))
        shown = re.sub(r"\*(.+?)\*", r"<strong>\1</strong>", shown)
        pieces = re.split(r"\{(\w+)\}", shown)
        pieces[1::2] = (_value(values[name]) for name in pieces[1::2])
        spans.append(f'<span class="t" lang="{language}">{"".join(pieces)}</span>')
    return Markup("".join(spans))


def kind(group: str, value: str) -> Markup:
    """Return a word of the pipeline in every language; other people's words as they are.

    Args:
        group: ``type`` or ``cause``.
    """
    key = f"{group}_{value}"
    return phrase(key) if key in words() else Markup("<bdi>{}</bdi>").format(value)


def sentence(key: str, **values: Any) -> str:
    """Return a text in English."""
    shown = {name: _plain(value) for name, value in values.items()}
    return words()[key][0].replace("*", "").format_map(shown)


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return BETWEEN.join(map(_plain, value))
    return share(value) if isinstance(value, float) else one_line(str(value))


def _value(value: Any) -> Markup:
    if isinstance(value, list | tuple):
        return Markup(BETWEEN).join(map(_value, value))
    if isinstance(value, float):
        return escape(share(value))
    return Markup("<bdi>{}</bdi>").format(value) if isinstance(value, str) else escape(value)


def share(value: float | None) -> str:
    """Format a value from 0 to 1, as all measures are, or a difference of two."""
    return "–" if value is None else f"{value:.3f}".replace("-", "−")


def signed(value: float | None) -> str:
    """Format a difference with its sign."""
    return "–" if value is None else f"{value:+.3f}".replace("-", "−")


def p_value(value: float | None) -> str:
    """Format a probability the way journals do."""
    return "–" if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


def unit(value: float, form: str) -> str:
    """Format a time or a size with a unit that leaves few digits."""
    if form == "milliseconds":
        return f"{value:.3g} ms" if value < 1000 else f"{value / 1000:.3g} s"
    if form == "seconds":
        return f"{value:.3g} s" if value < 600 else f"{value / 60:.0f} min"
    for name in ("B", "kB", "MB", "GB"):
        if value < 1000 or name == "GB":
            return f"{value:.3g} {name}"
        value /= 1000
    raise AssertionError(form)


def dollars(low: float, high: float) -> str:
    """Format an estimated price with two significant digits."""
    if high == 0:
        return "0"
    return " – ".join(f"{value:.2g}" if value < 100 else f"{value:,.0f}" for value in (low, high))
