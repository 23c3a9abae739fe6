"""A model's recipe: prefixes, pooling and length, as given or as the model's own files say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bears.errors import ConfigurationError, RetrieverUnavailable
from bears.formats.records import read_json

POOLING = ("cls", "mean", "max", "mean_sqrt_len_tokens", "lasttoken")
LEGACY = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_lasttoken": "lasttoken",
    "pooling_mode_weightedmean_tokens": "weightedmean",
}
DOCUMENT_PROMPTS = ("document", "passage", "corpus")


@dataclass(frozen=True, slots=True)
class Given:
    """What the configuration says of a recipe; None: what the model's own files say."""

    question_prefix: str | None = None
    document_prefix: str | None = None
    pooling: str | None = None
    max_length: int | None = None

    def __post_init__(self) -> None:
        if self.pooling is not None and self.pooling not in POOLING:
            raise ConfigurationError(
                f"retriever.encoder.pooling is {self.pooling!r}; expected one of "
                f"{', '.join(POOLING)}, or null for what the model's own files say"
            )
        if self.max_length is not None and self.max_length < 3:
            raise ConfigurationError(
                f"retriever.encoder.max_length is {self.max_length}; expected at least 3 tokens, "
                "since two of them are not the text's"
            )

    @property
    def whole(self) -> bool:
        """Whether nothing is left to the model's files."""
        values = (self.question_prefix, self.document_prefix, self.pooling, self.max_length)
        return None not in values


@dataclass(frozen=True, slots=True)
class Recipe:
    """From a text to a vector.

    Args:
        question_prefix: put before a question.
        document_prefix: put before a document.
        pooling: how the tokens' vectors become one; several are put side by side.
        max_length: tokens, those that the tokenizer adds included; 0: all that the model reads.
        lower_case: whether texts are lowered first.
        projections: folders of the linear layers that follow.
    """

    question_prefix: str
    document_prefix: str
    pooling: tuple[str, ...]
    max_length: int
    lower_case: bool = False
    projections: tuple[str, ...] = ()


def recipe(model: str, folder: Path, given: Given) -> Recipe:
    """The recipe of a model.

    Args:
        model: its name, for messages.
        folder: of its files, in sentence-transformers' layout: modules.json names the steps,
            config_sentence_transformers.json the prompts, sentence_bert_config.json the length.
        given: goes before what the files say.

    Raises:
        ConfigurationError: neither says how to pool, or vectors are not for comparing by cosine.
        RetrieverUnavailable: a step is one that this encoder does not have.
    """
    steps = _json(folder / "modules.json", [])
    if not steps and given.pooling is None:
        raise ConfigurationError(
            f"retriever.encoder.pooling is null, but {model} has no modules.json that says how to "
            f"pool; its model card does. Give one of {', '.join(POOLING)}"
        )
    kinds = [(str(step["type"]).rpartition(".")[2], str(step["path"])) for step in steps]
    _check_steps(model, kinds)
    said = _json(folder / "config_sentence_transformers.json", {})
    if said.get("similarity_fn_name") == "dot" and "Normalize" not in dict(kinds):
        raise ConfigurationError(
            f"{model} is for dot products of vectors of any length; indexes here compare by "
            "cosine. Choose a model whose vectors are normalised"
        )
    prompts = said.get("prompts") or {}
    text = _json(folder / "sentence_bert_config.json", {})
    pooling = [
        _pooling(model, _json(folder / path / "config.json", {}))
        for kind, path in kinds
        if kind == "Pooling"
    ]
    return Recipe(
        _first(given.question_prefix, prompts.get("query"), ""),
        _first(given.document_prefix, *(prompts.get(key) or None for key in DOCUMENT_PROMPTS), ""),
        (given.pooling,) if given.pooling else pooling[0],
        _first(given.max_length, text.get("max_seq_length"), 0),
        bool(text.get("do_lower_case")),
        tuple(path for kind, path in kinds if kind == "Dense"),
    )


def explicit(given: Given) -> Recipe:
    """The recipe of a configuration that leaves nothing open."""
    assert given.question_prefix is not None
    assert given.document_prefix is not None
    assert given.pooling is not None
    assert given.max_length is not None
    return Recipe(given.question_prefix, given.document_prefix, (given.pooling,), given.max_length)


def _check_steps(model: str, kinds: list[tuple[str, str]]) -> None:
    names = [kind for kind, _ in kinds]
    strange = set(names) - {"Transformer", "Pooling", "Dense", "Normalize", "Dropout"}
    if names and (strange or names[:2] != ["Transformer", "Pooling"] or kinds[0][1]):
        raise RetrieverUnavailable(
            f"{model} has the steps {', '.join(names)}; this encoder does a Transformer in the "
            "model's own folder, then Pooling, then Dense and Normalize"
        )


def _pooling(model: str, config: dict[str, Any]) -> tuple[str, ...]:
    found = config.get("pooling_mode")
    names = [found] if isinstance(found, str) else list(found or [])
    names = names or [name for key, name in LEGACY.items() if config.get(key)]
    if not names or set(names) - set(POOLING) or config.get("include_prompt") is False:
        wrong = "without its prompt's tokens" if config.get("include_prompt") is False else names
        raise RetrieverUnavailable(
            f"{model} pools {wrong}; this encoder has {', '.join(POOLING)}, over all tokens"
        )
    return tuple(names)


def _first(*values: Any) -> Any:
    return next(value for value in values if value is not None)


def _json(file: Path, otherwise: Any) -> Any:
    return read_json(file) if file.is_file() else otherwise
