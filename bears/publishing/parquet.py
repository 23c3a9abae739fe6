"""A benchmark as parquet files with fixed columns."""

from __future__ import annotations

from pathlib import Path

from bears.formats.records import atomic_write
from bears.publishing.benchmark import Finished

FILES = ("parquet/queries.parquet", "parquet/corpus.parquet", "parquet/qrels.parquet")


def write_parquet(finished: Finished, folder: Path) -> None:
    """Write queries, corpus and qrels. The bytes depend on pyarrow's version, the rows do not."""
    # pyarrow takes 0.1 s to import, and only an export needs it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    strings = pa.list_(pa.string())
    queries = pa.table(
        {
            "question_id": [q.question_id for q in finished.questions],
            "question": [q.question for q in finished.questions],
            "gold_answer": [q.gold_answer for q in finished.questions],
            "gold_doc_ids": pa.array([list(q.gold_doc_ids) for q in finished.questions], strings),
            "source_dataset": [q.source_dataset for q in finished.questions],
            "question_type": [q.question_type for q in finished.questions],
            "judged": [q.judged for q in finished.questions],
            "group": [q.group for q in finished.questions],
        }
    )
    corpus = pa.table(
        {
            "doc_id": [d.doc_id for d in finished.documents],
            "content": [d.content for d in finished.documents],
            "original_source": [d.original_source for d in finished.documents],
            "original_id": [d.original_id for d in finished.documents],
            "is_gold": [d.is_gold for d in finished.documents],
            "group": [d.group for d in finished.documents],
        }
    )
    pairs = [(q.question_id, d, grade) for q in finished.questions for d, grade in q.grades.items()]
    qrels = pa.table(
        {
            "question_id": pa.array([pair[0] for pair in pairs], pa.string()),
            "doc_id": pa.array([pair[1] for pair in pairs], pa.string()),
            "grade": pa.array([pair[2] for pair in pairs], pa.int64()),
        }
    )
    for name, table in zip(FILES, (queries, corpus, qrels), strict=True):
        with atomic_write(folder / name) as stream:
            pq.write_table(table, stream)
