"""How much one file may ask of us. Each bound is far beyond what a benchmark needs."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache

from bears.errors import ConfigurationError, FormatError

VARIABLE = "BEARS_LIMITS"


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of what is read.

    Args:
        whole_bytes: of a file or record that is held in memory whole.
        text_bytes: of one text: a string of JSON, a cell of a table; and of a YAML file.
        depth: of lists and objects within one another; the parser of JSON goes no deeper than 200.
        digits: of one number.
        ratio: bytes that one byte of a packed file may become, beyond the first 64 MiB.
    """

    whole_bytes: int = 512 * 1024 * 1024
    text_bytes: int = 10_000_000
    depth: int = 100
    digits: int = 400
    ratio: int = 200


@cache
def limits() -> Limits:
    """The bounds in force: the defaults, and what the environment's BEARS_LIMITS says instead.

    Raises:
        ConfigurationError: the variable names no bound, or gives one that is no positive number.
    """
    return Limits(**dict(_overrides(os.environ.get(VARIABLE, ""))))


def _overrides(said: str) -> Iterator[tuple[str, int]]:
    names = [field.name for field in fields(Limits)]
    for item in filter(None, map(str.strip, said.split(","))):
        name, _, value = item.partition("=")
        number = value.replace("_", "")
        if name not in names or not (number.isascii() and number.isdigit() and int(number[:18])):
            raise ConfigurationError(
                f"{VARIABLE}: {item!r:.80} is no limit; expected NAME=NUMBER, several parted by "
                f"commas, with a NAME of {', '.join(names)}"
            )
        yield name, int(number[:18])


def beyond(where: str, found: str, name: str) -> FormatError:
    """The refusal of what is ``found``, for it goes beyond the limit ``name``."""
    return FormatError(
        f"{where}: {found}; the limit {name} is {getattr(limits(), name)}, "
        f"which {VARIABLE}={name}=NUMBER in the environment raises"
    )
