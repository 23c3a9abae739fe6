"""The text is in another script."""

from __future__ import annotations

from bears.language.profile import Language
from bears.language.scripts import letters, script_share
from bears.language.text import Text, echoes_name, share_of, without_parentheses


def gate(text: Text, language: Language) -> str | None:
    """Too little of the translation is in the language's scripts, or too much in another one.

    An answer that is a name, a code or a title may stay as it is in the source.
    """
    if echoes_name(text):
        return None
    share = script_share(text.translation, language.scripts)
    if share < language.min_share:
        return f"{share:.0%} of it is {language.title}, expected at least {language.min_share:.0%}"
    body = without_parentheses(text.translation)
    if letters(body) < language.thresholds.script_letters:
        return None
    for script, (least, greatest) in language.script_bounds.items():
        found = share_of(body, script)
        if not least <= found <= greatest:
            return f"{found:.0%} of its letters are {script}, expected {least:.0%}–{greatest:.0%}"
    return None
