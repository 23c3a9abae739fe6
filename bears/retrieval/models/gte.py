"""gte-multilingual-base without the Python code that its repository brings.

Its type "new" is transformers' own "gte" with other names of settings. sentence-transformers only
reads a configuration from a folder, so one is written next to links to the model's files.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bears.errors import RetrieverUnavailable
from bears.files.records import read_json
from bears.retrieval.models.checkpoint import Checkpoint
from bears.retrieval.models.placement import required

SAME = {
    "position_embedding_type": "rope",
    "layer_norm_type": "layer_norm",
    "logn_attention_scale": False,
}
"""Settings of the type "new" that are fixed in transformers' gte."""


@contextmanager
def in_transformers_layout(checkpoint: Checkpoint, folder: Path) -> Iterator[Path]:
    """Yield a folder that transformers can read: ``folder``, or for gte a temporary one.

    Raises:
        RetrieverUnavailable: transformers' gte does not support its configuration.
    """
    file = folder / "config.json"
    config = read_json(file) if file.is_file() and not checkpoint.code_revision else {}
    if config.get("model_type") != "new":
        yield folder
        return
    translated = _gte(checkpoint, config)
    with TemporaryDirectory() as name:
        for path in folder.iterdir():
            if path != file:
                (Path(name) / path.name).symlink_to(path.resolve())
        translated.save_pretrained(name)
        yield Path(name)


def _gte(checkpoint: Checkpoint, new: Mapping[str, Any]) -> Any:
    """Return the configuration of type "new" as a `transformers.GteConfig`.

    NTK scaling (https://kexue.fm/archives/9706, fixed) is a larger base and one factor for all
    frequencies, which transformers calls linear:
    https://github.com/huggingface/transformers/pull/48416.
    """
    transformers = required("transformers")
    scaling = new.get("rope_scaling") or {"type": "ntk", "factor": 1.0}
    wrong = {key: new[key] for key, value in SAME.items() if new.get(key, value) != value}
    if wrong or scaling["type"] != "ntk" or "mixed_b" in scaling:
        raise RetrieverUnavailable(
            f"{checkpoint.key}.model {checkpoint.model}: its config.json has {wrong or scaling}, "
            "which transformers' gte does not support. Allow the model's own code at one commit: "
            f"{checkpoint.key}.code_revision=COMMIT"
        )
    factor = float(scaling["factor"])
    head = new["hidden_size"] // new["num_attention_heads"]
    fields = transformers.GteConfig().to_dict().keys() - {"model_type", "rope_parameters"}
    return transformers.GteConfig(
        **{key: value for key, value in new.items() if key in fields},
        rope_parameters={
            "rope_type": "linear",
            "rope_theta": float(new["rope_theta"]) * factor,
            "factor": factor ** (2 / head),
        },
    )
