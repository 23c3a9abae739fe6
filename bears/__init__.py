"""Build retrieval benchmarks, or take those that exist, and measure retrievers on them.

``bears.build``, ``read`` and ``compare`` are the library (docs/library.md).
"""

import importlib
from typing import Any

LIBRARY = "bears.library"
"""Stages and commands import this package too, and need none of it; a literal in the calls below
would make it a part of their code."""


def __getattr__(name: str) -> Any:
    library = importlib.import_module(LIBRARY)
    if name in library.__all__:
        return getattr(library, name)
    raise AttributeError(f"module 'bears' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(importlib.import_module(LIBRARY).__all__)
