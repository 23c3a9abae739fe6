"""From files to a model that is ready for texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bears.errors import RetrieverUnavailable
from bears.formats.records import read_json
from bears.retrieval.models import packing
from bears.retrieval.models.checkpoint import Checkpoint, has_weights
from bears.retrieval.models.device import Hardware, required

UNUSED = ("pooler.", "position_ids")
"""Weights that a checkpoint may lack, since no recipe here reads what they make."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model on its device, and its tokenizer.

    Args:
        model, tokenizer: of transformers.
        device: of torch.
        batch_tokens: of one batch; None: what suits the device.
    """

    model: Any
    tokenizer: Any
    device: Any
    batch_tokens: int | None = None

    @property
    def positions(self) -> int:
        """Tokens that the model has positions for."""
        config = self.model.config
        most = getattr(config, "max_position_embeddings", None) or 10**9
        # RoBERTa and its kin count positions from the padding token's number on.
        roberta = config.model_type in {"roberta", "xlm-roberta", "camembert", "mpnet"}
        return int(min(most - (config.pad_token_id + 1) * roberta, self.tokenizer.model_max_length))


def load(checkpoint: Checkpoint, hardware: Hardware, head: str = "AutoModel") -> Loaded:
    """Load a model and its tokenizer.

    Args:
        checkpoint: which.
        hardware: where to, and in which numbers.
        head: name of the class of transformers that loads it.

    Raises:
        RetrieverUnavailable: a package, a file or code that the model needs is not here.
    """
    torch, transformers = required("torch"), required("transformers")
    transformers.utils.logging.disable_progress_bar()
    folder, device = checkpoint.folder(), hardware.chosen()
    config = _config(checkpoint, folder)
    if not has_weights(folder):
        raise RetrieverUnavailable(
            f"{checkpoint.key}.model {checkpoint.model}: {folder} holds no model.safetensors or "
            "pytorch_model.bin; fetch the model again"
        )
    model, info = getattr(transformers, head).from_pretrained(
        folder,
        config=config,
        dtype=getattr(torch, hardware.numbers()),
        output_loading_info=True,
        **_code(checkpoint),
    )
    _check(checkpoint, info)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, config=config)
    model = model.eval().to(device)
    if device.type == "cpu":
        packing.pack(model)
    return Loaded(model, tokenizer, device, hardware.batch_tokens)


def _config(checkpoint: Checkpoint, folder: Path) -> Any:
    transformers = required("transformers")
    file = folder / "config.json"
    if not file.is_file():
        raise RetrieverUnavailable(
            f"{checkpoint.key}.model {checkpoint.model}: there is no {file}, so this is no folder "
            "of a model. It has config.json, model.safetensors and tokenizer.json"
        )
    plain = read_json(file)
    if plain["model_type"] == "new" and not checkpoint.code_revision:
        return _gte(checkpoint, plain)
    if plain["model_type"] not in transformers.CONFIG_MAPPING and not checkpoint.code_revision:
        raise RetrieverUnavailable(
            f"{checkpoint.key}.model {checkpoint.model} is of the type {plain['model_type']!r}, "
            f"which transformers {transformers.__version__} does not know; it wants to run code "
            f"of its own ({plain.get('auto_map') or 'not said which'}). Read that code, then allow "
            f"one commit of it: {checkpoint.key}.code_revision=COMMIT"
        )
    return transformers.AutoConfig.from_pretrained(folder, **_code(checkpoint))


def _code(checkpoint: Checkpoint) -> dict[str, Any]:
    if not checkpoint.code_revision:
        return {"trust_remote_code": False}
    return {"trust_remote_code": True, "code_revision": checkpoint.code_revision}


def _gte(checkpoint: Checkpoint, plain: Mapping[str, Any]) -> Any:
    """The configuration of Alibaba-NLP's type "new" as transformers' own "gte".

    So the model needs no remote code. Its NTK scaling (https://kexue.fm/archives/9706, fixed) is
    a larger base and one factor for all frequencies, which transformers calls linear:
    https://github.com/huggingface/transformers/pull/48416.
    """
    transformers = required("transformers")
    scaling = plain.get("rope_scaling") or {"type": "ntk", "factor": 1.0}
    known = {
        "position_embedding_type": "rope",
        "layer_norm_type": "layer_norm",
        "logn_attention_scale": False,
    }
    wrong = {key: plain[key] for key, value in known.items() if plain.get(key, value) != value}
    if wrong or scaling["type"] != "ntk" or "mixed_b" in scaling:
        raise RetrieverUnavailable(
            f"{checkpoint.key}.model {checkpoint.model}: its config.json has {wrong or scaling}, "
            f"which transformers' gte cannot do. Allow the model's own code at one commit: "
            f"{checkpoint.key}.code_revision=COMMIT"
        )
    factor = float(scaling["factor"])
    head = plain["hidden_size"] // plain["num_attention_heads"]
    fields = transformers.GteConfig().to_dict().keys() - {"model_type", "rope_parameters"}
    return transformers.GteConfig(
        **{key: value for key, value in plain.items() if key in fields},
        rope_parameters={
            "rope_type": "linear",
            "rope_theta": float(plain["rope_theta"]) * factor,
            "factor": factor ** (2 / head),
        },
    )


def _check(checkpoint: Checkpoint, info: Mapping[str, Any]) -> None:
    missing = [key for key in info["missing_keys"] if not any(word in key for word in UNUSED)]
    wrong = sorted([*missing, *(str(key) for key in info["mismatched_keys"])])
    if wrong:
        raise RetrieverUnavailable(
            f"{checkpoint.key}.model {checkpoint.model}: {len(wrong)} weights of this architecture "
            f"are not in its files, first {wrong[0]}; they would be random numbers. The model is "
            "of another kind than this retriever needs, or wants code of its own"
        )
