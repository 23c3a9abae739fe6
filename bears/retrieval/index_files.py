"""The files of an index. Their manifest names damage, so nothing here checks what they hold."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.errors import StoreError
from bears.files.records import read_json, sha256_of, write_json

PLACES = "chunks.parquet"
"""In the folder of an index: the chunk of each name, if documents were cut."""
MADE_FROM = "made_from.json"
"""In the folder of an index: the sha256 of its corpus, and if documents were cut, how many chunks
there are per document."""


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
    recorded = read_json(file) if file.is_file() else {}
    if recorded.get("corpus") != digest:
        raise StoreError(
            f"{index} was made from a corpus with sha256 {recorded.get('corpus', 'unknown')}, but "
            f"{corpus} has {digest}. Index this corpus first: `dvc repro index`"
        )
    return float(recorded.get("density", 1))


def map_array(path: Path) -> NDArray[Any]:
    """Map an array in NumPy's format; its values stay in the file."""
    # A slice of numpy.memmap costs microseconds, a slice of a plain array does not.
    array: NDArray[Any] = np.load(path, mmap_mode="r").view(np.ndarray)
    return array
