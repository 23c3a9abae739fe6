"""Write a benchmark as a folder in BEIR's layout (Thakur et al. 2021)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bears.files.records import write_lines, write_text
from bears.publishing.finished import Finished

FILES = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")


def write_beir(finished: Finished, folder: Path) -> None:
    """Write corpus.jsonl, queries.jsonl and qrels/test.tsv.

    BEIR's judgements cannot say that no document is right. Such a question has no line in them,
    and ``no_retrieval`` in its metadata.
    """
    write_lines(folder / FILES[0], _corpus(finished))
    write_lines(folder / FILES[1], _queries(finished))
    lines = [
        f"{question.question_id}\t{doc_id}\t{grade}\n"
        for question in finished.questions
        for doc_id, grade in question.grades.items()
    ]
    write_text(folder / FILES[2], "query-id\tcorpus-id\tscore\n" + "".join(lines))


def _corpus(finished: Finished) -> Iterator[dict[str, Any]]:
    for document in finished.documents:
        metadata = {"source": document.original_source, "source_id": document.original_id}
        yield {
            "_id": document.doc_id,
            "title": "",
            "text": document.content,
            "metadata": metadata | ({"group": document.group} if document.group else {}),
        }


def _queries(finished: Finished) -> Iterator[dict[str, Any]]:
    for question in finished.questions:
        metadata: dict[str, Any] = {
            "answer": question.gold_answer,
            "source": question.source_dataset,
            "type": question.question_type,
        }
        if question.generated:
            metadata["generated"] = True
        if question.group:
            metadata["group"] = question.group
        if question.judged and not question.gold_doc_ids:
            metadata["no_retrieval"] = True
        yield {"_id": question.question_id, "text": question.question, "metadata": metadata}
