"""Whether there is room, and leave, to write."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bears.doctor.finding import Finding
from bears.doctor.objects import cache_folder

LITTLE = 500_000_000
"""Bytes; the packages and `mini` need less, an index of 200,000 documents more."""


def check(root: Path) -> Iterator[Finding]:
    """The checkout, DVC's cache and the folder for temporary files."""
    places = {
        root: "the checkout",
        cache_folder(root): "DVC's cache",
        Path(tempfile.gettempdir()): "temporary files",
    }
    for path, name in places.items():
        there = next(folder for folder in (path, *path.parents) if folder.exists())
        if not os.access(there, os.R_OK | os.W_OK | os.X_OK):
            owned = f"sudo chown -R $(id -u) {there} && chmod -R u+rwX {there}"
            yield Finding(f"you may not read and write in {there} ({name})", owned)
        elif (free := shutil.disk_usage(there).free) < LITTLE:
            yield Finding(
                f"{free / 1e6:,.0f} MB are free at {there} ({name}). The mend removes for good "
                "what only other experiments have in DVC's cache",
                "dvc gc --workspace",
            )
