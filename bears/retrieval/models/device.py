"""What a model runs on, and in which numbers."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from bears.errors import ConfigurationError, RetrieverUnavailable

DEVICES = ("auto", "cuda", "mps", "cpu")
DTYPES = ("auto", "float32", "bfloat16", "float16")


@dataclass(frozen=True, slots=True)
class Hardware:
    """What to run on.

    Args:
        key: of the configuration, for messages.
        device: auto takes the best that is there: cuda, mps, cpu.
        dtype: auto is bfloat16 on a GPU that has it, float16 on an older one, else float32.
        batch_tokens: of one batch, padding included; None: what suits the device.

    Raises:
        ConfigurationError: a word or a number that is none of these.
    """

    key: str
    device: str = "auto"
    dtype: str = "auto"
    batch_tokens: int | None = None

    def __post_init__(self) -> None:
        for field, word, words in (
            ("device", self.device.partition(":")[0], DEVICES),
            ("dtype", self.dtype, DTYPES),
        ):
            if word not in words:
                raise ConfigurationError(
                    f"{self.key}.{field} is {word!r}; expected one of {', '.join(words)}"
                )

        if self.batch_tokens is not None and self.batch_tokens < 1:
            raise ConfigurationError(
                f"{self.key}.batch_tokens is {self.batch_tokens}; expected at least 1"
            )

    def chosen(self) -> Any:
        """The device, a `torch.device`.

        Raises:
            RetrieverUnavailable: torch is not installed.
            ConfigurationError: the device that was asked for is not in this machine.
        """
        torch = required("torch")
        there = {
            "cuda": torch.cuda.is_available(),
            "mps": torch.backends.mps.is_available(),
            "cpu": True,
        }
        kind = self.device.partition(":")[0]
        if kind != "auto" and not there[kind]:
            found = ", ".join(name for name, present in there.items() if present)
            raise ConfigurationError(
                f"{self.key}.device is {self.device!r}, but torch {torch.__version__} finds only "
                f"{found} here; {self.key}.device=auto takes the best that is there"
            )
        best = next(name for name, present in there.items() if present)
        return torch.device(best if kind == "auto" else self.device)

    def numbers(self) -> str:
        """The name of the dtype: what the vectors depend on, whatever the device."""
        if self.dtype != "auto":
            return self.dtype
        if self.chosen().type != "cuda":
            return "float32"
        return "bfloat16" if required("torch").cuda.is_bf16_supported() else "float16"


def required(package: str) -> Any:
    """Import torch or transformers.

    Raises:
        RetrieverUnavailable: it is not installed.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError:
        raise RetrieverUnavailable(
            f"this retriever needs {package}, which is not installed; `make dense` installs it, "
            "with torch, in about a minute"
        ) from None
