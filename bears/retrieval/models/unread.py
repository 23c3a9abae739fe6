"""What a tokenizer leaves out of a text."""

from collections.abc import Sequence
from typing import Any

from bears.retrieval.models.placement import CHARACTERS


def unread(tokenizer: Any, tokens: int, texts: Sequence[Sequence[str]]) -> list[int]:
    """Characters of each text, or of each pair of texts, that are not among its first tokens.

    Args:
        tokenizer: of transformers; 0 for each text where it does not say which characters a token
            stands for.
        tokens: that are read of a text or pair, those that the tokenizer adds included.
        texts: one or two at each place, the same number at all of them.
    """
    left = [0] * len(texts)
    # A token is at least a byte, so a short text, as most are, need not be looked at.
    long = [i for i, some in enumerate(texts) if len("".join(some).encode()) > tokens - 8]
    if not long or not getattr(tokenizer, "is_fast", False):
        return left
    most = tokens * CHARACTERS
    columns = zip(*([text[:most] for text in texts[i]] for i in long), strict=True)
    found = tokenizer(*map(list, columns), truncation=True, max_length=tokens)
    for i, encoding in zip(long, found.encodings, strict=True):
        if encoding.overflowing or max(map(len, texts[i])) > most:
            ends = [0, 0]
            for number, (_, end) in zip(encoding.sequence_ids, encoding.offsets, strict=True):
                if number is not None:
                    ends[number] = max(ends[number], end)
            left[i] = sum(map(len, texts[i])) - sum(ends)
    return left
