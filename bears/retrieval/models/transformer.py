"""Models of sentence-transformers, on this machine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Annotated, Any, Literal, get_args

import numpy as np
from pydantic import Field

from bears.errors import ConfigurationError
from bears.retrieval.models.loading import CHARACTERS, LocalModel, load, positions, required
from bears.retrieval.models.loading import unread as characters_unread
from bears.retrieval.vectors import Kind, Vectors, normalized

THREADS = 3
"""On a GPU: while one thread's batch is computed, the others tokenize the next ones."""
BATCHES = 16
"""On a GPU: batches after which the vectors are copied from it."""
Pooling = Literal["cls", "mean", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]


@dataclass(frozen=True)
class TransformerEncoder(LocalModel):
    """A model with its recipe. None stands for the setting in the model's own files.

    Vectors do not depend on the rest of the batch, except for the last bits of their floats.

    Args:
        question_prefix: put before a question; None: the model's prompt ``query``.
        document_prefix: put before a document; None: the first prompt of ``document``,
            ``passage`` and ``corpus`` that the model has.
        pooling: how the tokens' vectors become one.
        max_length: tokens read of a text, including the two or so that the tokenizer adds.
    """

    key = "retriever.encoder"

    question_prefix: str | None = None
    document_prefix: str | None = None
    pooling: Pooling | None = None
    max_length: Annotated[int, Field(ge=3)] | None = None

    @property
    def identity(self) -> Mapping[str, object]:
        """Return model, revision, recipe and dtype, but not the device."""
        return {
            **self.pinned,
            "question_prefix": self.question_prefix,
            "document_prefix": self.document_prefix,
            "pooling": self.pooling,
            "max_length": self.max_length,
            "dtype": self.precision(),
        }

    @property
    def dimensions(self) -> int:
        """Return the dimensions of the vectors."""
        return int(self.loaded.get_embedding_dimension())

    def load(self) -> None:
        """Read the weights."""
        self.questions(["warm"])

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of length 1, shape (texts, dimensions)."""
        return self._encode(self.loaded.encode_document, self._prompt("document"), texts)

    def questions(self, texts: Sequence[str]) -> Vectors:
        """Return the same as `documents`, with the questions' prefix."""
        return self._encode(self.loaded.encode_query, self._prompt("question"), texts)

    def unread(self, kind: Kind, texts: Sequence[str]) -> tuple[int, list[int]]:
        """Return the model's length, and how many characters of each text are beyond it."""
        prompt, most = self._prompt(kind), self.loaded.max_seq_length
        left = np.zeros(len(texts), np.int64)
        for batch in self.batches(texts, most):
            left[batch] = characters_unread(
                self._counting, most, [[prompt + texts[i]] for i in batch]
            )
        return most, left.tolist()

    def blocks(self, texts: Sequence[str]) -> Iterator[list[int]]:
        """Yield the positions of the texts of each block: on a GPU many batches, else one."""
        batches = self.batches(texts, self.loaded.max_seq_length)
        while block := list(islice(batches, BATCHES if self.parallel else 1)):
            yield list(chain.from_iterable(block))

    @cached_property
    def loaded(self) -> Any:
        """Return the `sentence_transformers.SentenceTransformer`, loaded at first use.

        Raises:
            RetrieverUnavailable: the model, or a package that it needs, is missing.
            ConfigurationError: neither configuration nor files say how to pool, the length is more
                than the model reads, or its vectors are not made for cosines.
        """
        folder = self.folder()
        if folder.is_dir() and self.pooling is None and not (folder / "modules.json").is_file():
            raise ConfigurationError(
                f"{self.key}.pooling is null, but {self.model} has no modules.json that says how "
                f"to pool. See its model card, and give one of {', '.join(get_args(Pooling))}"
            )
        model = load("SentenceTransformer", self)
        steps = dict(model.named_children())
        kinds = {type(step).__name__ for step in steps.values()}
        if model.similarity_fn_name == "dot" and "Normalize" not in kinds:
            raise ConfigurationError(
                f"{self.model} is for dot products of vectors of any length; indexes "
                "here compare by cosine. Choose a model whose vectors are normalized"
            )
        if self.pooling is not None:
            pooling = required("sentence_transformers.sentence_transformer.modules").Pooling
            for name, step in steps.items():
                if isinstance(step, pooling):
                    setattr(model, name, pooling(step.embedding_dimension, self.pooling))
        model.max_seq_length = self._length(model)
        return model

    @cached_property
    def _counting(self) -> Any:
        # A call sets how a tokenizer pads and cuts, which another thread must not see.
        return deepcopy(self.loaded.tokenizer)

    def _length(self, model: Any) -> int:
        """Return how many tokens are read of a text."""
        wanted, most = self.max_length, positions(model)
        if wanted is not None and wanted > most:
            raise ConfigurationError(
                f"{self.key}.max_length is {wanted}, but {self.model} reads {most} tokens"
            )
        return min(wanted or model.max_seq_length or most, most)

    def _prompt(self, kind: Kind) -> str:
        given, *names = {
            "document": (self.document_prefix, "document", "passage", "corpus"),
            "question": (self.question_prefix, "query"),
        }[kind]
        if given is not None:
            return given
        return next(
            (self.loaded.prompts[name] for name in names if self.loaded.prompts.get(name)), ""
        )

    def _encode(self, encode: Callable[..., Any], prompt: str, texts: Sequence[str]) -> Vectors:
        most = self.loaded.max_seq_length * CHARACTERS
        batches = list(self.batches(texts, self.loaded.max_seq_length))

        def vectors_of(batch: list[int]) -> Any:
            some = [texts[row][:most] for row in batch]
            # If a package has set up logging, it would draw a bar for each batch.
            return encode(
                some,
                prompt=prompt,
                batch_size=len(some),
                show_progress_bar=False,
                convert_to_tensor=True,
            )

        # The first batch sets how the tokenizer pads, which the threads only read.
        parts = [vectors_of(batch) for batch in batches[:1]]
        if self.parallel:
            with ThreadPoolExecutor(THREADS) as pool:
                parts += pool.map(vectors_of, batches[1:])
        else:
            parts += map(vectors_of, batches[1:])
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for batch, part in zip(batches, parts, strict=True):
            vectors[batch] = part.float().cpu()
        return normalized(vectors)
