"""Models of sentence-transformers' layout, and of any that transformers loads, on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np

from bears.errors import ConfigurationError
from bears.retrieval.encoder import Vectors, normalised
from bears.retrieval.encoders.recipe import Given, Recipe, explicit, recipe
from bears.retrieval.models import batching
from bears.retrieval.models.checkpoint import Checkpoint
from bears.retrieval.models.device import Hardware
from bears.retrieval.models.loading import Loaded, load
from bears.retrieval.models.pooling import pool, projection

KEY = "retriever.encoder"


class Transformer:
    """A model with its recipe. None stands for what the model's own files say.

    A text that comes more than once is encoded once. Vectors do not depend on what else is in a
    batch, but for the last bits of their floats.

    Args:
        model: ``owner/name`` on the hub, a folder, or ``package:NAME``; see `Checkpoint`.
        revision: 40 hexadecimal digits of a commit, for a model of the hub.
        question_prefix: put before a question.
        document_prefix: put before a document.
        pooling: cls, mean, max, mean_sqrt_len_tokens or lasttoken.
        max_length: tokens that are read of a text.
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
        question_prefix: str | None = None,
        document_prefix: str | None = None,
        pooling: str | None = None,
        max_length: int | None = None,
        device: str = "auto",
        dtype: str = "auto",
        batch_tokens: int | None = None,
        code_revision: str = "",
    ) -> None:
        self._checkpoint = Checkpoint(KEY, model, revision, code_revision)
        self._hardware = Hardware(KEY, device, dtype, batch_tokens)
        self._given = Given(question_prefix, document_prefix, pooling, max_length)

    @property
    def identity(self) -> dict[str, Any]:
        """Model, revision, recipe and dtype; not the device."""
        numbers = {"dtype": self._hardware.numbers()}
        return {**self._checkpoint.identity, **asdict(self._recipe), **numbers}

    @property
    def dimensions(self) -> int:
        """Of the vectors."""
        return int(self.questions([""]).shape[1])

    def load(self) -> None:
        """Read the weights."""
        self.questions(["warm"])

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (texts, dimensions)."""
        return self._encode(self._recipe.document_prefix, texts)

    def questions(self, texts: Sequence[str]) -> Vectors:
        """As `documents`, with the questions' prefix."""
        return self._encode(self._recipe.question_prefix, texts)

    def _encode(self, prefix: str, texts: Sequence[str]) -> Vectors:
        numbers: dict[str, int] = {}
        rows = [numbers.setdefault(text, len(numbers)) for text in texts]
        different = [prefix + text for text in numbers]
        if self._recipe.lower_case:
            different = [text.lower() for text in different]
        if not different:
            return np.zeros((0, self.dimensions), np.float32)
        columns = {"input_ids": self._tokens(different)}
        vectors = batching.run(self._loaded, columns, self._vectors)
        return normalised(vectors.numpy()[rows])

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        tokens: list[list[int]] = self._loaded.tokenizer(
            texts,
            truncation=True,
            max_length=self._length,
            return_attention_mask=False,
            return_token_type_ids=False,
        )["input_ids"]
        return tokens

    def _vectors(self, input_ids: Any, attention_mask: Any) -> Any:
        output = self._loaded.model(input_ids=input_ids, attention_mask=attention_mask)
        vectors = pool(output.last_hidden_state, attention_mask, self._recipe.pooling)
        for project in self._projections:
            vectors = project(vectors)
        return vectors

    @cached_property
    def _recipe(self) -> Recipe:
        if self._given.whole:
            return explicit(self._given)
        return recipe(self._checkpoint.model, self._checkpoint.folder(), self._given)

    @cached_property
    def _loaded(self) -> Loaded:
        return load(self._checkpoint, self._hardware)

    @cached_property
    def _projections(self) -> list[Any]:
        folder = self._checkpoint.folder()
        return [projection(folder / name, self._loaded.device) for name in self._recipe.projections]

    @cached_property
    def _length(self) -> int:
        positions = self._loaded.positions
        asked = self._given.max_length
        if asked is not None and asked > positions:
            raise ConfigurationError(
                f"{KEY}.max_length is {asked}, but {self._checkpoint.model} reads {positions} "
                "tokens"
            )
        return min(self._recipe.max_length or positions, positions)
