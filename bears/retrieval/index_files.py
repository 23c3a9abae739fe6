"""The files of an index: report what is damaged or of another corpus, and say how to fix it."""

from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from bears.errors import StoreError
from bears.files.digest import sha256_of
from bears.files.intake.files import read_whole
from bears.files.records import problems_of, write_json

T = TypeVar("T")

MADE_FROM = "made_from.json"
"""In the folder of an index: the sha256 of its corpus."""


def damaged(path: Path, problem: str) -> StoreError:
    """The error for a file that is not what `index` wrote."""
    return StoreError(
        f"{path} is damaged: {problem}. Index again: `dvc repro --force --single-item index`"
    )


def write_made_from(index: Path, corpus: Path) -> None:
    """Record in an index which corpus it was made from."""
    write_json(index / MADE_FROM, {"corpus": sha256_of(corpus)})


def check_made_from(index: Path, corpus: Path) -> None:
    """Refuse an index that was made from another corpus.

    Raises:
        StoreError: it was, or it does not say from which.
    """
    place, found = index / MADE_FROM, sha256_of(corpus)
    recorded = read_value(place, dict[str, str]).get("corpus") if place.is_file() else None
    if recorded != found:
        raise StoreError(
            f"{index} was made from a corpus with sha256 {recorded or 'unknown'}, but {corpus} "
            f"has {found}. Index this corpus first: `dvc repro index`"
        )


def read_value(path: Path, shape: type[T]) -> T:
    """JSON of exactly this shape.

    Raises:
        StoreError: it is another one, or no JSON.
        FormatError: there is no such file.
    """
    try:
        return TypeAdapter(shape).validate_json(read_whole(path), strict=True)
    except ValidationError as error:
        raise damaged(path, problems_of(error)) from None


def map_array(path: Path, kind: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """An array that stays in its file.

    Args:
        path: in NumPy's format.
        kind: of its numbers: f, i or u.
        shape: what it must be; None for what may be any number.

    Raises:
        StoreError: it is missing, cut, or another one.
    """
    try:
        # A slice of numpy.memmap costs microseconds, a slice of a plain array does not.
        array: NDArray[Any] = np.load(path, mmap_mode="r").view(np.ndarray)
    except Exception as error:  # NumPy parses a header as Python, and raises what that raises.
        raise damaged(path, f"{type(error).__name__}: {error!s:.200}") from None
    fits = len(shape) == array.ndim and all(
        size in (None, found) for size, found in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype.kind != kind:
        expected = " × ".join("any" if size is None else str(size) for size in shape)
        found = " × ".join(map(str, array.shape))
        raise damaged(path, f"{found} of {array.dtype}, expected {expected} of kind {kind}")
    return array
