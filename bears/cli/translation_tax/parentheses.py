"""Texts without what stands in parentheses, where translators put the original's words."""

OPENING, CLOSING = "(（", ")）"


def without_parentheses(text: str) -> str:
    """``text`` without its parentheses and what stands in them; one that has no partner stays."""
    kept: list[str] = []
    opened: list[int] = []
    for character in text:
        if character in OPENING:
            opened.append(len(kept))
        kept.append(character)
        if character in CLOSING and opened:
            del kept[opened.pop() :]
    return "".join(kept)
