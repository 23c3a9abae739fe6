"""Datasets of the package ir_datasets, which downloads them at first use into a folder of its own.

That folder is ``IR_DATASETS_HOME`` in the environment, or ~/.ir_datasets.
"""

import re
from pathlib import Path
from typing import Any

from bears.errors import SourceError
from bears.files.records import write_lines

TABLES = {"docs": "corpus", "queries": "queries", "qrels": "qrels"}
"""What a dataset has, to BEIR's word for it."""


def dataset_of(name: str) -> Any:
    """Return a dataset with documents, queries and judgements; nothing is downloaded.

    Raises:
        SourceError: the package is missing, or has no such dataset, or the dataset lacks a part.
    """
    try:
        # Only this source needs it.
        import ir_datasets

        dataset = ir_datasets.load(name)
    except ImportError:
        needed = "pip install 'bears-bench[ir-datasets]'"
        raise SourceError(f"{name} is a dataset of ir_datasets; to read it: {needed}") from None
    except KeyError:
        raise SourceError(f"ir_datasets has no {name!r:.80}; see `ir_datasets list`") from None
    if missing := [part for part in TABLES if not dataset.has(part)]:
        raise SourceError(
            f"{name} has no {' and no '.join(missing)}; choose a dataset that has all"
        )
    return dataset


def write_tables(name: str, folder: Path) -> Path:
    """Write a dataset in BEIR's layout, row by row, and return its folder within ``folder``.

    The text of a document or query is the one that ir_datasets calls its default.

    Raises:
        SourceError: as `dataset_of` does; or it cannot be downloaded or read.
    """
    dataset = dataset_of(name)
    place = folder / "ir_datasets" / re.sub(r"\W+", "-", name)
    try:
        for part, table in TABLES.items():
            write_lines(place / f"{table}.jsonl", map(_row, getattr(dataset, f"{part}_iter")()))
    except Exception as error:
        # It documents no errors.
        raise SourceError(f"{name} of ir_datasets cannot be read ({error!r:.200})") from None
    return place


def _row(record: Any) -> dict[str, Any]:
    if hasattr(record, "relevance"):
        return {"query-id": record.query_id, "corpus-id": record.doc_id, "score": record.relevance}
    # The id is the first field of a document and of a query.
    return {"_id": record[0], "text": record.default_text()}
