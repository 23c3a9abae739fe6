"""The files of an index. Their manifest names damage, so nothing here checks what they hold."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.files.records import check_digest, digest_files, read_json, write_json

PLACES = "chunks.parquet"
"""In the folder of an index: the chunk of each name, if documents were cut."""
MADE_FROM = "made_from.json"
"""In the folder of an index: the sha256 of its corpus, and its number of chunks per document."""


def write_made_from(index: Path, corpus: Path, density: float) -> None:
    """Record in an index which corpus it was made from, and its chunks per document."""
    write_json(index / MADE_FROM, {**digest_files([corpus]), "density": density})


def check_made_from(index: Path, corpus: Path) -> float:
    """Return the chunks per document, and refuse an index that was made from another corpus.

    Raises:
        FormatError: the corpus differs.
    """
    check_digest(corpus, index / MADE_FROM, "index")
    return float(read_json(index / MADE_FROM)["density"])


def map_array(path: Path) -> NDArray[Any]:
    """Map an array in NumPy's format; its values stay in the file."""
    # A slice of numpy.memmap costs microseconds, a slice of a plain array does not.
    array: NDArray[Any] = np.load(path, mmap_mode="r").view(np.ndarray)
    return array
