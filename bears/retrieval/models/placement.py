"""Which device a local model runs on, in which precision, and how much of it at once."""

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
"""Of one batch: on a CPU what stays in its caches, on a GPU what keeps it busy."""
CHARACTERS = 100
"""That a token has at most on average: longer words are one unknown token to most models."""
TOKEN_BYTES = 3
"""Few texts have shorter tokens on average: English ones take about four bytes, Chinese ones three
and more."""


@dataclass(frozen=True, slots=True)
class Placement:
    """What a model of torch runs on.

    Args:
        key: of the configuration, for messages.
        device: auto takes the best that is there: cuda, mps, cpu.
        dtype: auto is bfloat16 on a GPU that has it, float16 on an older one, else float32.
        batch_tokens: of one batch, padding included; None: what suits the device.
    """

    key: str
    device: Device = "auto"
    dtype: Dtype = "auto"
    batch_tokens: Positive | None = None

    def torch_device(self) -> str:
        """Return the device's name. Raises RetrieverUnavailable where torch is not installed."""
        torch = required("torch")
        if self.device != "auto":
            return self.device
        there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
        return next((name for name, present in there.items() if present), "cpu")

    def precision(self) -> str:
        """The name of the dtype: what the vectors depend on, whatever the device."""
        if self.dtype != "auto":
            return self.dtype
        if not self.torch_device().startswith("cuda"):
            return "float32"
        return "bfloat16" if required("torch").cuda.is_bf16_supported() else "float16"

    def batches(self, texts: Sequence[str], max_length: int) -> Iterator[list[int]]:
        """Positions of the texts of each batch, those of about one length together.

        Memory follows a batch's tokens, so that one long text among many does not pad the others.

        Args:
            texts: in any order.
            max_length: tokens that are read of a text.
        """
        usual = CPU_TOKENS if self.torch_device() == "cpu" else GPU_TOKENS
        lengths = [min(max_length, 2 + len(text.encode()) // TOKEN_BYTES) for text in texts]
        return batches(lengths, self.batch_tokens or usual)


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Positions of the texts of each batch, the longest texts first.

    A batch, padded to its longest text, has at most ``tokens`` tokens, or one text.
    """
    order = sorted(range(len(lengths)), key=lambda position: -lengths[position])
    start = 0
    while start < len(order):
        size = max(1, tokens // lengths[order[start]])
        yield order[start : start + size]
        start += size


def required(package: str) -> Any:
    """Import torch or what builds on it.

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
