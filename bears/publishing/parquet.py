"""Write a benchmark as parquet files with fixed columns."""

from pathlib import Path

from bears.files.records import atomic_write
from bears.publishing.finished import Finished
from bears.types import Judgement

FILES = {name: f"parquet/{name}.parquet" for name in ("queries", "corpus", "qrels")}


def write_parquet(finished: Finished, folder: Path) -> None:
    """Write queries, corpus and qrels.

    The bytes depend on the version of pyarrow; the rows do not.
    """
    # The import takes 0.1 s, and only an export needs it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, truth = pa.string(), pa.bool_()
    question = {"question_id": text, "question": text, "gold_answer": text}
    question |= {"gold_doc_ids": pa.list_(text), "source_dataset": text, "question_type": text}
    document = {"doc_id": text, "content": text, "original_source": text, "original_id": text}
    judgements = [
        Judgement(q.question_id, doc_id, grade)
        for q in finished.questions
        for doc_id, grade in q.grades.items()
    ]
    tables = {
        "queries": (finished.questions, {**question, "judged": truth, "group": text}),
        "corpus": (finished.documents, {**document, "is_gold": truth, "group": text}),
        "qrels": (judgements, {"question_id": text, "doc_id": text, "grade": pa.int64()}),
    }
    for name, (records, kinds) in tables.items():
        columns = {column: [getattr(record, column) for record in records] for column in kinds}
        with atomic_write(folder / FILES[name]) as stream:
            pq.write_table(pa.table(columns, pa.schema(kinds)), stream)
