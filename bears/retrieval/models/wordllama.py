"""WordLlama: static token embeddings, averaged; the weights come with its package (MIT)."""

import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from bears.errors import RetrieverUnavailable
from bears.retrieval.vectors import Vectors, normalized


class WordLlama:
    """Embeddings without torch or network. A text is read to its end, however long it is.

    Args:
        dimensions: of the vectors; the package has 256.
    """

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions

    @property
    def identity(self) -> Mapping[str, object]:
        """Return the package's version and the dimensions."""
        from importlib.metadata import version

        return {"wordllama": version("wordllama"), "dimensions": self._dimensions}

    def load(self) -> None:
        """Read the weights."""
        self.documents(["warm"])

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of length 1, shape (texts, dimensions); zeros for a text without tokens.

        Each text is a batch, since the package pads a batch to its longest text.
        """
        return normalized(self._model.embed([*texts], batch_size=1))

    def questions(self, texts: Sequence[str]) -> Vectors:
        """Return the same as `documents`."""
        return self.documents(texts)

    @cached_property
    def _model(self) -> Any:
        # The package sets up logging when it is imported, unless somebody else already has.
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
        # It does not split texts into words, so its cache of words would hold whole texts, which
        # never come again and take 150 MB.
        model.tokenizer.model._resize_cache(0)
        return model
