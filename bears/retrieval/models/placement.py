"""The device, precision and batches of a local model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, Literal

from pydantic import Field

from bears.config.packaged import install_command
from bears.errors import RetrieverUnavailable
from bears.types import Positive

Device = Annotated[str, Field(pattern=r"^(auto|cuda|mps|cpu)(:\d+)?$")]
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
CPU_TOKENS, GPU_TOKENS = 2_048, 65_536
"""Tokens per batch: few enough for the caches of a CPU, enough to keep a GPU busy."""
CHARACTERS = 100
"""The most per token on average: longer words are one unknown token to most models."""
TOKEN_BYTES = 3
"""Few texts have shorter tokens on average: English ones have about four bytes, Chinese ones three
or more."""


@dataclass(frozen=True, slots=True)
class Placement:
    """The device and precision of a model of torch.

    Args:
        key: of the configuration, for messages.
        device: auto takes the best available: cuda, mps, cpu.
        dtype: auto is bfloat16 on a GPU that has it, float16 on an older one, else float32.
        batch_tokens: per batch, padding included; None: chosen by device.
    """

    key: str
    device: Device = "auto"
    dtype: Dtype = "auto"
    batch_tokens: Positive | None = None

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
