"""WordLlama: static token embeddings, averaged; the weights lie in its package (MIT)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bears.errors import RetrieverUnavailable
from bears.retrieval.dense import DenseSearcher, Vectors, write_vectors
from bears.types import Document


class WordLlama:
    """Dense retrieval without torch or network.

    Args:
        name: of the file under conf/retriever.
        dimensions: of the vectors; the package carries 256.
    """

    def __init__(self, name: str, dimensions: int) -> None:
        self.name, self._dimensions = name, dimensions

    def index(self, documents: Sequence[Document], folder: Path) -> None:
        """Encode the documents and write their vectors."""
        vectors = self._model().embed([document.content for document in documents])
        write_vectors(folder, vectors, [document.doc_id for document in documents])

    def open(self, folder: Path) -> DenseSearcher:
        """Read the vectors and load the model."""
        model = self._model()

        def encode(question: str) -> Vectors:
            vector: Vectors = model.embed([question])[0]
            return vector

        return DenseSearcher(folder, encode)

    def _model(self) -> Any:
        import wordllama

        package = Path(wordllama.__file__).parent
        try:
            return wordllama.WordLlama.load(
                cache_dir=package, dim=self._dimensions, disable_download=True
            )
        except (FileNotFoundError, ValueError) as error:
            raise RetrieverUnavailable(
                f"retriever.dimensions is {self._dimensions}; the package carries 256 ({error})"
            ) from None
