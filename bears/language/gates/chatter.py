"""The model spoke to us around the translation, or refused."""

import re

from bears.language.profile import Language
from bears.language.text import Text

_ENGLISH = (
    r"^\W*(?:sure|certainly|of course|okay|ok|absolutely)[!,.]",
    r"^\W*here(?: is|'s|’s| are) (?:the|your|a|my) [^\n]{0,40}?(?:translat|version|text)",
    r"^\W*(?:the )?(?:\w+ )?translat(?:ion|ed text)\b[^\n]{0,40}?[:：]",
    r"^\W*(?:i'm|i’m|i am) (?:sorry|unable|not able)\b",
    r"^\W*(?:sorry|apologies|unfortunately)[, ]",
    r"^\W*i (?:cannot|can't|can’t|could not|won't|am not able to)\b",
    r"^\W*please (?:provide|paste|share|give me) (?:me )?(?:with )?(?:the|more|your|a)\b",
    r"\bas an ai\b",
    r"```",
    r"[(（\[［]\s*(?:note|translator'?s? note|translation note|tn|n\.b\.)\s*[:：]",
    r"(?:^|\n)\W*(?:translator'?s? )?notes?\s*[:：]",
    r"</?(?:translation|text|source|answer|think|output)>",
    r"<\|[^|>]{1,40}\|>",
    r"(?:let me know|hope (?:this|that) helps)\b",
)
_QUOTES = ('""', "“”", "''", "‘’", "``")


def gate(text: Text, language: Language) -> str | None:
    """A phrase of models is there that the source lacks, or quotes stand around it all."""
    for pattern in (*_ENGLISH, *language.chatter):
        found = re.search(pattern, text.translation, re.IGNORECASE)
        if found and not re.search(pattern, text.source, re.IGNORECASE):
            return f"the model speaks: {found.group().strip()!r:.60}"
    pairs = (*_QUOTES, *language.quotes)
    marked = _wrapped(text.source, (*pairs, "《》", "『』"))
    # A title that stayed as it was may have marks where the source has none.
    kept = text.source.casefold().strip() in text.translation.casefold()
    if _wrapped(text.translation, pairs) and not marked and not kept:
        return f"quotation marks stand around it: {text.translation!r:.60}"
    return None


def _wrapped(text: str, pairs: tuple[str, ...]) -> bool:
    bare = text.strip()
    for pair in pairs:
        opening, closing = pair[0], pair[1]
        if len(bare) > 2 and bare[0] == opening and bare[-1] == closing:
            inner = bare[1:-1]
            if opening not in inner and closing not in inner:
                return True
    return False
