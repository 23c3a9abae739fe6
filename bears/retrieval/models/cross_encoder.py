"""Cross-encoders of sentence-transformers: question and text go through the model together."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.errors import RetrieverUnavailable
from bears.retrieval.cut import Cut
from bears.retrieval.models.loading import CHARACTERS, LocalModel, load, positions, required, unread
from bears.types import Positive


@dataclass(frozen=True)
class CrossEncoder(LocalModel):
    """A model with one output, which is the score, without a sigmoid.

    Args:
        max_length: tokens of question and text together; the longer of the two is cut.
    """

    key = "retriever.reranker"

    max_length: Positive = 512

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the model's output for each pair, shape (texts,)."""
        scores = np.empty(len(texts), np.float32)
        most = self.max_length * CHARACTERS
        pairs = [(question[:most], text[:most]) for text in texts]
        for batch in self.batches(list(map("".join, pairs)), self.max_length):
            some = [pairs[row] for row in batch]
            scores[batch] = self._model.predict(some, batch_size=len(some))
        return scores

    def cut(self, question: str, texts: Sequence[str]) -> Cut:
        """Return how much of the pairs is beyond the model's length."""
        most, pairs = self._model.max_seq_length, [(question, text) for text in texts]
        lengths = [len(question) + len(text) for text in texts]
        left = unread(self._model.tokenizer, most, pairs)
        return Cut.of("reranked pairs", most, lengths, left)

    @cached_property
    def _model(self) -> Any:
        identity = required("torch").nn.Identity()
        model = load("CrossEncoder", self, activation_fn=identity)
        if model.num_labels != 1:
            raise RetrieverUnavailable(
                f"{self.key}.model {self.model} has {model.num_labels} outputs; expected "
                "one: how well a text answers"
            )
        model.max_seq_length = min(self.max_length, positions(model))
        return model
