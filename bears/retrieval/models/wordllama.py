"""WordLlama: static token embeddings, averaged; the weights lie in its package (MIT)."""

import logging
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bears.errors import RetrieverUnavailable
from bears.retrieval.models.encoder import Vectors, normalised
from bears.retrieval.parts import parts

TOGETHER = 64
WORD_BREAK = re.compile(r"(?<=\S) (?=\S)")
"""Of WordLlama's tokens none goes across a single space, which is counted to the word behind it,
and its tokenizer puts one before every text: so the tokens of the parts between are the text's."""


class WordLlama:
    """Embeddings without torch or network. A text is read to its end, however long it is.

    Args:
        dimensions: of the vectors; the package carries 256.
    """

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions

    @property
    def identity(self) -> dict[str, Any]:
        """The package's version and the dimensions."""
        from importlib.metadata import version

        return {"wordllama": version("wordllama"), "dimensions": self._dimensions}

    def load(self) -> None:
        """Read the weights."""
        self.documents(["warm"])

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (texts, dimensions); of nothing, zeros."""
        vectors = np.zeros((len(texts), self._dimensions), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._mean(text)
        return normalised(vectors)

    def batches(self, texts: Sequence[str]) -> Iterator[range]:
        """Return the positions of a few texts at a time."""
        for first in range(0, len(texts), TOGETHER):
            yield range(first, min(first + TOGETHER, len(texts)))

    def questions(self, texts: Sequence[str]) -> Vectors:
        """The same as `documents`."""
        return self.documents(texts)

    def _mean(self, text: str) -> Vectors:
        """The mean of the tokens' vectors, shape (dimensions,), in memory that a part needs.

        The package's own `embed` pads 64 texts to the longest of them. Rows are added one after the
        other, as it adds them, so the numbers are the same to the last bit.
        """
        total, tokens = np.zeros((1, self._dimensions), np.float32), 0
        for part in parts(text, WORD_BREAK):
            ids = self._model.tokenizer.encode(part, add_special_tokens=False).ids
            rows = np.concatenate([total, self._model.embedding[ids]])
            total, tokens = rows.sum(axis=0, keepdims=True), tokens + len(ids)
        return np.asarray(total[0] / np.float32(max(tokens, 1)))

    @cached_property
    def _model(self) -> Any:
        # The package sets logging up for whoever imports it, but for those who have.
        root, silent = logging.getLogger(), logging.NullHandler()
        root.addHandler(silent)
        import wordllama

        root.removeHandler(silent)
        package = Path(wordllama.__file__).parent
        try:
            model = wordllama.WordLlama.load(
                cache_dir=package, dim=self._dimensions, disable_download=True
            )
        except (FileNotFoundError, ValueError) as error:
            raise RetrieverUnavailable(
                f"retriever.encoder.dimensions is {self._dimensions}; the package carries 256 "
                f"({error})"
            ) from None
        # It splits no text into words, so that what it remembers of words are whole texts: they
        # never come again and take 150 MB.
        model.tokenizer.model._resize_cache(0)
        return model
