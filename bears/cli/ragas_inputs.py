"""Rows of ``ragas`` made whole: contexts from the selected retriever."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bears.configuration import Config, build
from bears.errors import ConfigurationError
from bears.formats.manifest import check
from bears.formats.records import stream_documents
from bears.ragas.rows import RagasRow
from bears.retrieval.retriever import Query
from bears.retrieval.stopwatch import Stopwatch


def completed(rows: Sequence[RagasRow], config: Config, top: int) -> list[RagasRow]:
    """The rows, with what they lack.

    Args:
        top: how many documents are the contexts of a row that has none.

    Raises:
        ConfigurationError: rows need a retriever, and its index is not there.
    """
    lacking = [row.question for row in rows if row.contexts is None]
    found = iter(_first_documents(lacking, config, top) if lacking else ())
    return [replace(row, contexts=next(found)) if row.contexts is None else row for row in rows]


def _first_documents(questions: Sequence[str], config: Config, top: int) -> list[tuple[str, ...]]:
    """For each question the texts of the first documents that the selected retriever finds."""
    benchmark, retriever = config["benchmark"]["name"], config["retriever"]["name"]
    index = Path("data") / benchmark / "index" / retriever
    corpus = Path("data") / benchmark / "translated" / "corpus.json"
    if not index.is_dir() or not corpus.is_file():
        raise ConfigurationError(
            f"{len(questions)} rows have no contexts, and {index} is not there to look them up; "
            f"`dvc exp run -S benchmark={benchmark} -S retriever={retriever}` makes it, or give "
            "the file a column contexts"
        )
    check(index)
    check(corpus)
    searcher = build(config["retriever"], "retriever").open(index)
    queries = [Query(question) for question in questions]
    rankings = [[hit.doc_id for hit in each] for each in searcher.search(queries, top, Stopwatch())]
    wanted = {doc_id for ranking in rankings for doc_id in ranking}
    texts = {
        document.doc_id: document.content
        for document in stream_documents(corpus)
        if document.doc_id in wanted
    }
    return [tuple(texts[doc_id] for doc_id in ranking) for ranking in rankings]
