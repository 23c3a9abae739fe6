"""How much of a text is beyond a model's length."""

from collections.abc import Sequence
from typing import Any

from bears.retrieval.models.placement import CHARACTERS


def unread(tokenizer: Any, tokens: int, texts: Sequence[Sequence[str]]) -> list[int]:
    """Count the characters of each text, or pair of texts, that are beyond its first tokens.

    Args:
        tokenizer: of transformers; the counts are 0 if it does not map tokens to characters.
        tokens: read of a text or pair, including those that the tokenizer adds.
        texts: one or two in each item, the same number in all.
    """
    left = [0] * len(texts)
    # A token is at least a byte, so short texts, which most are, need no tokenizer.
    long = [i for i, some in enumerate(texts) if len("".join(some).encode()) > tokens - 8]
    if not long or not getattr(tokenizer, "is_fast", False):
        return left
    most = tokens * CHARACTERS
    columns = zip(*([text[:most] for text in texts[i]] for i in long), strict=True)
    encoded = tokenizer(*map(list, columns), truncation=True, max_length=tokens)
    for i, encoding in zip(long, encoded.encodings, strict=True):
        if encoding.overflowing or max(map(len, texts[i])) > most:
            ends = [0, 0]
            for number, (_, end) in zip(encoding.sequence_ids, encoding.offsets, strict=True):
                if number is not None:
                    ends[number] = max(ends[number], end)
            left[i] = sum(map(len, texts[i])) - sum(ends)
    return left
