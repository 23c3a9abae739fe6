"""WordLlama: static token embeddings, averaged; the weights lie in its package (MIT)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bears.errors import RetrieverUnavailable
from bears.retrieval.encoder import Vectors, normalised


class WordLlama:
    """Embeddings without torch or network.

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
        return normalised(np.asarray(self._model.embed(list(texts))))

    def questions(self, texts: Sequence[str]) -> Vectors:
        """The same as `documents`."""
        return self.documents(texts)

    @cached_property
    def _model(self) -> Any:
        import wordllama

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
