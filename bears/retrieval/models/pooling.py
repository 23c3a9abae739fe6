"""From the vectors of tokens to one vector of a text, as sentence-transformers defines it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bears.errors import RetrieverUnavailable
from bears.formats.records import read_json
from bears.retrieval.models.device import required

ACTIVATIONS = ("Identity", "Tanh", "ReLU", "GELU", "Sigmoid")


def pool(tokens: Any, mask: Any, modes: Sequence[str]) -> Any:
    """One vector for each text, float32, shape (texts, dimensions × modes).

    Args:
        tokens: shape (texts, length, dimensions).
        mask: shape (texts, length), 0 where a text is filled up; None: nowhere.
        modes: of `bears.retrieval.encoders.recipe.POOLING`.
    """
    torch = required("torch")
    tokens = tokens.float()
    if mask is None:
        mask = torch.ones(tokens.shape[:2], dtype=torch.long, device=tokens.device)
    return torch.cat([_pool(torch, tokens, mask, mode) for mode in modes], dim=1)


def _pool(torch: Any, tokens: Any, mask: Any, mode: str) -> Any:
    lengths = mask.sum(1, keepdim=True)
    if mode == "cls":
        return tokens[:, 0]
    if mode == "lasttoken":
        return tokens[torch.arange(len(tokens), device=tokens.device), lengths[:, 0] - 1]
    if mode == "max":
        return tokens.masked_fill(mask[..., None] == 0, float("-inf")).amax(1)
    total = (tokens * mask[..., None]).sum(1)
    return total / (lengths.sqrt() if mode == "mean_sqrt_len_tokens" else lengths)


def projection(folder: Path, device: Any) -> Any:
    """A linear layer with its activation, from a folder of sentence-transformers' Dense."""
    torch = required("torch")
    config = read_json(folder / "config.json")
    name = str(config.get("activation_function", "Tanh")).rpartition(".")[2]
    if name not in ACTIVATIONS:
        raise RetrieverUnavailable(
            f"{folder / 'config.json'}: the activation {name!r} is none of {', '.join(ACTIVATIONS)}"
        )
    layer = torch.nn.Linear(config["in_features"], config["out_features"], config.get("bias", True))
    if (folder / "model.safetensors").is_file():
        weights = required("safetensors.torch").load_file(folder / "model.safetensors")
    else:
        weights = torch.load(folder / "pytorch_model.bin", weights_only=True)
    layer.load_state_dict({key.removeprefix("linear."): value for key, value in weights.items()})
    return torch.nn.Sequential(layer.float(), getattr(torch.nn, name)()).eval().to(device)
