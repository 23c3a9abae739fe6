"""The files of an index: report damage or an index of another corpus, and say how to fix it."""

from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from bears.errors import StoreError
from bears.files.intake.files import read_whole
from bears.files.records import problems_of, sha256_of, write_json

T = TypeVar("T")

PLACES = "chunks.parquet"
"""In the folder of an index: the chunk of each name, if documents were cut."""
MADE_FROM = "made_from.json"
"""In the folder of an index: the sha256 of its corpus, and if documents were cut, how many chunks
there are per document."""


def damaged(path: Path, problem: str) -> StoreError:
    """Return the error for a file that `index` did not write like this."""
    return StoreError(
        f"{path} is damaged: {problem}. Index again: `dvc repro --force --single-item index`"
    )


def write_made_from(index: Path, corpus: Path, density: float) -> None:
    """Record in an index which corpus it was made from, and its chunks per document."""
    cut = {"density": density} if density != 1 else {}
    write_json(index / MADE_FROM, {"corpus": sha256_of(corpus), **cut})


def check_made_from(index: Path, corpus: Path) -> float:
    """Return the chunks per document, and refuse an index that was made from another corpus.

    Raises:
        StoreError: the corpus differs, or the index does not record its corpus.
    """
    file, digest = index / MADE_FROM, sha256_of(corpus)
    recorded = read_value(file, dict[str, str | float]) if file.is_file() else {}
    if recorded.get("corpus") != digest:
        raise StoreError(
            f"{index} was made from a corpus with sha256 {recorded.get('corpus', 'unknown')}, but "
            f"{corpus} has {digest}. Index this corpus first: `dvc repro index`"
        )
    return float(recorded.get("density", 1))


def read_value(path: Path, shape: type[T]) -> T:
    """Read JSON of exactly this shape.

    Raises:
        StoreError: the file is not JSON of this shape.
        FormatError: the file is missing.
    """
    try:
        return TypeAdapter(shape).validate_json(read_whole(path), strict=True)
    except ValidationError as error:
        raise damaged(path, problems_of(error)) from None


def map_array(path: Path, kind: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Map an array in NumPy's format; its values stay in the file.

    Args:
        path: the file.
        kind: of its numbers: f, i or u.
        shape: the expected one; None for any number.

    Raises:
        StoreError: the file is missing or cut, or holds another array.
    """
    try:
        # A slice of numpy.memmap costs microseconds, a slice of a plain array does not.
        array: NDArray[Any] = np.load(path, mmap_mode="r").view(np.ndarray)
    except Exception as error:  # NumPy parses a header as Python, and raises what that raises.
        raise damaged(path, f"{type(error).__name__}: {error!s:.200}") from None
    fits = len(shape) == array.ndim and all(
        size in (None, actual) for size, actual in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype.kind != kind:
        expected = " × ".join("any" if size is None else str(size) for size in shape)
        actual = " × ".join(map(str, array.shape))
        raise damaged(path, f"{actual} of {array.dtype}, expected {expected} of kind {kind}")
    return array
