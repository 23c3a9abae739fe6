"""Find classes that a configuration names: only ours, since it may come from anywhere."""

import re
from importlib import import_module
from typing import Any

from bears.errors import ConfigurationError


def named(name: object, room: str, where: str) -> Any:
    """Return the class or function that ``room`` defines under a dotted name.

    Args:
        name: the full name, such as ``bears.retrieval.sparse.bm25.BM25``.
        room: the package that must define it.
        where: its place in the configuration.

    Raises:
        ConfigurationError: ``room`` does not define that name.
    """
    expected = f"{where} is {name!r}; expected the full name of something that {room} defines"
    if not isinstance(name, str) or not re.fullmatch(rf"{room}(\.[A-Za-z]\w*)+", name):
        raise ConfigurationError(expected)
    module, _, last = name.rpartition(".")
    try:
        found = getattr(import_module(module), last, None)
    except ImportError as error:
        raise ConfigurationError(f"{expected} ({error})") from None
    # An imported object belongs to another module.
    if not callable(found) or getattr(found, "__module__", None) != module:
        raise ConfigurationError(expected)
    return found
