"""Write a benchmark as parquet files with fixed columns, which MTEB loads as a retrieval task."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from bears.files.intake.parquet_rows import parquet_rows
from bears.files.records import atomic_write
from bears.publishing.finished import Finished
from bears.types import Judgement

FILES = {name: f"parquet/{name}.parquet" for name in ("queries", "corpus", "qrels")}
NAMES = {
    "queries": {"_id": "question_id", "text": "question"},
    "corpus": {"_id": "doc_id", "title": "", "text": "content"},
    "qrels": {"query-id": "question_id", "corpus-id": "doc_id", "score": "grade"},
}
"""Columns as MTEB calls them, and their fields, whose names they had in earlier exports.

MTEB asks for a title. Ours is in the text.
"""


def write_parquet(finished: Finished, folder: Path) -> None:
    """Write queries, corpus and qrels.

    The bytes depend on the version of pyarrow; the rows do not. MTEB makes batches of all columns
    of the queries, so that none of them has lists.
    """
    # The import takes 0.1 s, and only an export needs it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, truth = pa.string(), pa.bool_()
    question = {"_id": text, "text": text, "gold_answer": text, "source_dataset": text}
    question |= {"question_type": text, "judged": truth, "group": text}
    document = {"_id": text, "title": text, "text": text}
    document |= {"original_source": text, "original_id": text, "is_gold": truth, "group": text}
    judgements = [
        Judgement(q.question_id, doc_id, grade)
        for q in finished.questions
        for doc_id, grade in q.grades.items()
    ]
    tables = {
        "queries": (finished.questions, question),
        "corpus": (finished.documents, document),
        "qrels": (judgements, {"query-id": text, "corpus-id": text, "score": pa.int64()}),
    }
    for name, (records, kinds) in tables.items():
        fields = {column: NAMES[name].get(column, column) for column in kinds}
        columns = {
            column: [getattr(record, field) if field else "" for record in records]
            for column, field in fields.items()
        }
        with atomic_write(folder / FILES[name]) as stream:
            pq.write_table(pa.table(columns, pa.schema(kinds)), stream)


def rows_as_now(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file, which an earlier version may have written.

    The queries of an earlier one have their gold, so those of a later one get it from the qrels.
    """
    now = {before: column for column, before in NAMES.get(path.stem, {}).items()}
    rows = [{now.get(name, name): row[name] for name in row} for row in parquet_rows(path)]
    if path.stem == "corpus":
        return [{"title": "", **row} for row in rows]
    if path.stem == "queries":
        gold = defaultdict[str, list[str]](list)
        for row in rows_as_now(path.with_name("qrels.parquet")):
            gold[row["query-id"]].append(row["corpus-id"])
        return [{"gold_doc_ids": gold[row["_id"]], **row} for row in rows]
    return rows
