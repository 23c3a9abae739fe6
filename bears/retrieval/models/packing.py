"""Linear layers by oneDNN on x86: the same sums in the same float32, from weights laid out once.

PyTorch multiplies float32 matrices by MKL, which on AMD's processors takes longer than oneDNN: a
tenth in its wheel for CPUs, 2 to 3 times in the one for CUDA (`python -m benchmarks.encoding`).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from bears.retrieval.models.device import required

ROWS = 1024
"""Tokens that the layout is chosen for; any number works."""


def pack(model: Any) -> None:
    """Let every linear layer of a model on the CPU be computed by oneDNN, where that is there.

    Its plain weights are given up, so that memory does not double.
    """
    torch = required("torch")
    if not _usable(torch):
        return
    tied = {id(module.weight) for module in model.modules() if type(module) is torch.nn.Embedding}
    with torch.inference_mode():
        for layer in model.modules():
            if type(layer) is not torch.nn.Linear or id(layer.weight) in tied:
                continue
            packed = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach(), ROWS)
            bias = None if layer.bias is None else layer.bias.detach()
            layer.forward = partial(_linear, torch.ops.mkldnn._linear_pointwise, packed, bias)
            layer.weight = torch.nn.Parameter(layer.weight.new_empty(0), requires_grad=False)


def _linear(multiply: Any, packed: Any, bias: Any, inputs: Any) -> Any:
    return multiply(inputs, packed, bias, "none", [], "")


def _usable(torch: Any) -> bool:
    # The two operations are what torch.compile emits; they are not for every build.
    return (
        torch.backends.mkldnn.is_available()
        and torch.backends.cpu.get_cpu_capability() in {"AVX2", "AVX512"}
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")
    )
