"""From files to a model of sentence-transformers that is ready for texts."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from bears.errors import RetrieverUnavailable, first_line
from bears.retrieval.models.checkpoint import Checkpoint
from bears.retrieval.models.gte import in_transformers_layout
from bears.retrieval.models.placement import Placement, required

UNUSED = ("pooler.", "position_ids")
"""Weights that a checkpoint may lack, since nothing here reads what they make."""


def load(
    kind: Literal["SentenceTransformer", "CrossEncoder"],
    checkpoint: Checkpoint,
    placement: Placement,
    **settings: Any,
) -> Any:
    """Load a model from its folder, without a look at the hub.

    Args:
        kind: the class of sentence-transformers that it is an object of.
        checkpoint: which model.
        placement: where to, and in which precision.
        settings: more arguments of that class.

    Raises:
        RetrieverUnavailable: a package, a file or code that the model needs is not here.
    """
    device, dtype = placement.torch_device(), getattr(required("torch"), placement.precision())
    transformers, library = required("transformers"), required("sentence_transformers")
    transformers.utils.logging.disable_progress_bar()
    folder = checkpoint.folder()
    code = {"code_revision": checkpoint.code_revision} if checkpoint.code_revision else {}
    try:
        with in_transformers_layout(checkpoint, folder) as readable, _missing() as missing:
            model = getattr(library, kind)(
                str(readable),
                device=device,
                trust_remote_code=bool(code),
                # The files are all here, but for code, which may lie in another repository.
                local_files_only=not code,
                model_kwargs={"dtype": dtype, **code},
                config_kwargs=dict(code),
                **settings,
            )
    except (OSError, ValueError, RuntimeError, ImportError, KeyError, AssertionError) as error:
        raise RetrieverUnavailable(
            f"{checkpoint.key}.model {checkpoint.model}: sentence-transformers cannot load "
            f"{folder} on {device}: {first_line(error)}. Check {checkpoint.key}.device, and that "
            "the folder has config.json, model.safetensors and tokenizer.json. A model that runs "
            f"code of its own needs the commit of that code: {checkpoint.key}.code_revision=COMMIT"
        ) from error
    if missing:
        raise RetrieverUnavailable(
            f"{checkpoint.key}.model {checkpoint.model}: {len(missing)} weights of this "
            f"architecture are not in its files, first {missing[0]}; they would be random numbers. "
            "The model is of another kind than this retriever needs, or wants code of its own"
        )
    return model


def positions(model: Any) -> int:
    """Tokens that a model has positions for; very many where it counts none."""
    config = model.config
    most = getattr(config, "max_position_embeddings", None) or 10**9
    # RoBERTa and its kin count positions from the padding token's number on.
    if getattr(config, "model_type", "") in {"roberta", "xlm-roberta", "camembert", "mpnet"}:
        most -= config.pad_token_id + 1
    return int(most)


@contextmanager
def _missing() -> Iterator[list[str]]:
    """The weights that are missing in what is loaded within, in place of a warning of them.

    transformers fills them with random numbers, and says so to its log alone.
    """
    found: list[str] = []

    class Report(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            rows = re.findall(r"^(\S+) *\|[^|]*MISSING", record.getMessage(), re.MULTILINE)
            found.extend(row for row in rows if not any(word in row for word in UNUSED))

    log, handler = logging.getLogger("transformers.modeling_utils"), Report(logging.WARNING)
    before = log.level, log.propagate
    log.addHandler(handler)
    # Below it: at it, transformers warns of shards that it does not make.
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        yield found
    finally:
        log.removeHandler(handler)
        log.setLevel(before[0])
        log.propagate = before[1]
