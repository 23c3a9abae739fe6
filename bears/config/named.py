"""Code that a configuration names: ours alone, since a configuration may come from anywhere."""

import re
from importlib import import_module
from typing import Any

from bears.errors import ConfigurationError


def named(name: object, room: str, where: str) -> Any:
    """The class or function that is defined in ``room`` under a dotted name.

    Args:
        name: with its module, as ``bears.retrieval.sparse.bm25.BM25``.
        room: the package that it has to be of.
        where: its place in the configuration.

    Raises:
        ConfigurationError: there is no such one, or it is another package's.
    """
    expected = f"{where} is {name!r}; expected the full name of something that {room} defines"
    if not isinstance(name, str) or not re.fullmatch(rf"{room}(\.[A-Za-z]\w*)+", name):
        raise ConfigurationError(expected)
    module, _, last = name.rpartition(".")
    try:
        found = getattr(import_module(module), last, None)
    except ImportError as error:
        raise ConfigurationError(f"{expected} ({error})") from None
    # What a module only imports has the name of another one.
    if not callable(found) or getattr(found, "__module__", None) != module:
        raise ConfigurationError(expected)
    return found
