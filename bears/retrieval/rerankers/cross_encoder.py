"""Cross-encoders: question and text go through the model together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.errors import ConfigurationError, RetrieverUnavailable
from bears.retrieval.models import batching
from bears.retrieval.models.checkpoint import Checkpoint
from bears.retrieval.models.device import Hardware
from bears.retrieval.models.loading import Loaded, load

KEY = "retriever.reranker"


class CrossEncoder:
    """A model of one output. Its score is that output as it is, which no sigmoid flattens.

    Args:
        model: ``owner/name`` on the hub, a folder, or ``package:NAME``; see `Checkpoint`.
        revision: 40 hexadecimal digits of a commit, for a model of the hub.
        max_length: tokens of question and text together; the longer of the two is cut.
        device: auto, cuda, mps or cpu.
        dtype: auto, float32, bfloat16 or float16.
        batch_tokens: of one batch, padding included; None: what suits the device.
        code_revision: a commit of the code that comes with the model; empty: none is run.

    Raises:
        ConfigurationError: a value that is none of these.
    """

    def __init__(
        self,
        model: str,
        revision: str = "",
        max_length: int = 512,
        device: str = "auto",
        dtype: str = "auto",
        batch_tokens: int | None = None,
        code_revision: str = "",
    ) -> None:
        self._checkpoint = Checkpoint(KEY, model, revision, code_revision)
        self._hardware = Hardware(KEY, device, dtype, batch_tokens)
        if max_length < 1:
            raise ConfigurationError(f"{KEY}.max_length is {max_length}; expected at least 1")
        self._max_length = max_length

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The model's output for each pair, shape (texts,)."""
        if not texts:
            return np.zeros(0, np.float32)
        columns = self._loaded.tokenizer(
            [question] * len(texts),
            list(texts),
            truncation=True,
            max_length=min(self._max_length, self._loaded.positions),
            return_attention_mask=False,
        )
        outputs = batching.run(self._loaded, columns, self._outputs)
        return np.asarray(outputs[:, 0].numpy(), np.float32)

    def _outputs(self, **inputs: Any) -> Any:
        return self._loaded.model(**inputs).logits

    @cached_property
    def _loaded(self) -> Loaded:
        loaded = load(self._checkpoint, self._hardware, "AutoModelForSequenceClassification")
        if loaded.model.config.num_labels != 1:
            raise RetrieverUnavailable(
                f"{KEY}.model {self._checkpoint.model} has {loaded.model.config.num_labels} "
                "outputs; expected one, which says how well a text answers"
            )
        return loaded
