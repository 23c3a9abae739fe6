"""Chunks of a fixed number of tokens that overlap."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from itertools import accumulate
from pathlib import Path

from bears.errors import ConfigurationError, RetrieverUnavailable
from bears.language.scripts import HAN, KANA, SOUTH_EAST_ASIAN
from bears.retrieval.chunking import Range

Starts = Callable[[str], Sequence[int]]
"""Return the place of each token's first character in a text, in order."""

UNSPACED = SOUTH_EAST_ASIAN + KANA + HAN
"""Scripts without spaces: Thai, Lao, Myanmar, Khmer, kana and Han."""


class Tokens:
    """Chunks of ``size`` tokens, each beginning with the last ``overlap`` tokens of the one before.

    ``tokenizer`` decides what a token is: with ``characters`` each character; with ``words`` a run
    of letters and digits, or one character of a script without spaces (Han, kana, Thai, Lao,
    Myanmar, Khmer), or one other visible character. Anything else is the path of a
    ``tokenizer.json`` of Hugging Face, and the tokens are those of that model. White space belongs
    to the token before it.

    If a model uses several tokens for one character, the chunk ends before that character, and
    the overlap may be a few tokens longer.

    Args:
        size: tokens in a chunk.
        overlap: tokens that two neighbors share; less than ``size``.
        tokenizer: ``characters``, ``words``, or a path.

    Raises:
        ConfigurationError: the size is not positive, or the overlap not between 0 and it.
    """

    def __init__(self, size: int, overlap: int, tokenizer: str = "words") -> None:
        if not 0 <= overlap < size:
            raise ConfigurationError(
                f"chunking.size is {size} and chunking.overlap is {overlap}; expected a positive "
                "size and an overlap from 0 to below the size"
            )
        self._size, self._overlap, self._tokenizer = size, overlap, tokenizer

    def ranges(self, text: str) -> list[Range]:
        """Return the ranges of ``text``.

        Raises:
            RetrieverUnavailable: the tokenizer's file cannot be read.
        """
        starts = [*accumulate(self._starts(text), max)]
        if len(starts) <= self._size:
            return [(0, len(text))]
        starts[0] = 0
        # Tokens that begin a character: only these can begin a chunk.
        begins = [i for i, start in enumerate(starts) if i == 0 or start > starts[i - 1]]
        found, first = list[Range](), 0
        while first + 1 < len(begins) and len(starts) - begins[first] > self._size:
            end = max(bisect_right(begins, begins[first] + self._size) - 1, first + 1)
            found.append((starts[begins[first]], starts[begins[end]]))
            shared = bisect_right(begins, begins[end] - self._overlap) - 1
            first = min(max(shared, first + 1), end)
        return [*found, (starts[begins[first]], len(text))]

    @cached_property
    def _starts(self) -> Starts:
        known: dict[str, Starts] = {"characters": lambda text: range(len(text)), "words": _words}
        return known.get(self._tokenizer) or _file(Path(self._tokenizer))


def _words(text: str) -> Sequence[int]:
    return [found.start() for found in _pattern().finditer(text)]


@cache
def _pattern() -> re.Pattern[str]:
    marks = "".join(c for c in map(chr, range(0x10000)) if unicodedata.category(c)[0] == "M")
    word = rf"(?:(?![{UNSPACED}])[\w{marks}])+"
    return re.compile(rf"[{UNSPACED}][{marks}]*|{word}|\S[{marks}]*")


def _file(path: Path) -> Starts:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises nothing narrower
        raise RetrieverUnavailable(
            f"chunking.tokenizer: cannot read {path} ({error}); expected `characters`, `words` "
            "or the path of a model's tokenizer.json"
        ) from None
    # A model's file may cut texts to the model's length, which would lose the rest here.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: [
        start for start, _ in tokenizer.encode(text, add_special_tokens=False).offsets
    ]
