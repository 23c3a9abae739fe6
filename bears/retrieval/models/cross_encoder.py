"""Cross-encoders of sentence-transformers: question and text go through the model together."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.errors import RetrieverUnavailable
from bears.retrieval.cut import Cut
from bears.retrieval.models.loading import Checkpoint, load, positions, unread
from bears.retrieval.models.placement import CHARACTERS, Device, Dtype, Placement, required
from bears.types import Positive

KEY = "retriever.reranker"


class CrossEncoder:
    """A model with one output, which is the score, without a sigmoid.

    Args:
        model: ``owner/name`` on the hub, a folder, or ``package:NAME``; see `Checkpoint`.
        revision: 40 hexadecimal digits of a commit, for a model of the hub.
        max_length: tokens of question and text together; the longer of the two is cut.
        device: auto, cuda, mps or cpu.
        dtype: auto, float32, bfloat16 or float16.
        batch_tokens: per batch, padding included; None: chosen by device.
        code_revision: a commit of the code that comes with the model; empty: run no such code.

    Raises:
        ConfigurationError: as `Checkpoint` does.
    """

    def __init__(
        self,
        model: str,
        revision: str = "",
        max_length: Positive = 512,
        device: Device = "auto",
        dtype: Dtype = "auto",
        batch_tokens: Positive | None = None,
        code_revision: str = "",
    ) -> None:
        self._checkpoint = Checkpoint(KEY, model, revision, code_revision)
        self._placement = Placement(KEY, device, dtype, batch_tokens)
        self._max_length = max_length

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the model's output for each pair, shape (texts,)."""
        scores = np.empty(len(texts), np.float32)
        most = self._max_length * CHARACTERS
        pairs = [(question[:most], text[:most]) for text in texts]
        for batch in self._placement.batches(list(map("".join, pairs)), self._max_length):
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
        model = load("CrossEncoder", self._checkpoint, self._placement, activation_fn=identity)
        if model.num_labels != 1:
            raise RetrieverUnavailable(
                f"{KEY}.model {self._checkpoint.model} has {model.num_labels} outputs; expected "
                "one: how well a text answers"
            )
        model.max_seq_length = min(self._max_length, positions(model))
        return model
