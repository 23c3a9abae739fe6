"""Rows of ``ragas`` made whole: contexts from the retriever, answers from the generator."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bears.answers.answered import answered
from bears.answers.prompts import WrittenIn
from bears.answers.ragas.rows import RagasRow
from bears.answers.settings import GeneratorSettings
from bears.answers.shown import show
from bears.answers.task import AnswerTask
from bears.cli.uses import ANSWERS
from bears.config import Config, build, checkout, parse
from bears.errors import ConfigurationError
from bears.files.manifest import check
from bears.files.records import stream_documents
from bears.llm.workflow import Workflow
from bears.retrieval.retriever import Query
from bears.retrieval.stopwatch import Stopwatch
from bears.types import Document, Question

TOP = 5
"""Documents that are the contexts of a row, where no generator says how many it is shown."""


def with_contexts(rows: Sequence[RagasRow], config: Config, top: int | None) -> list[RagasRow]:
    """The rows, with the documents of the selected retriever where they have no contexts.

    Args:
        top: how many; None: as many as the selected generator is shown.

    Raises:
        ConfigurationError: rows need a retriever, and its index is not there.
    """
    most = top or config["generator"].get("documents", TOP)
    lacking = [row.question for row in rows if row.contexts is None]
    found = iter(_first_documents(lacking, config, most) if lacking else ())
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


def answering(rows: Sequence[RagasRow], config: Config) -> Workflow[AnswerTask] | None:
    """The selected generator's work for the rows without an answer; None where there is none.

    Raises:
        ConfigurationError: the generator looks at gold documents, which these rows have not.
    """
    if config["generator"]["name"] == "none":
        return None
    settings = parse(GeneratorSettings, config["generator"], "generator")
    if settings.context == "gold":
        raise ConfigurationError(
            f"generator {settings.name} is shown gold documents, and the rows name none; choose "
            "another, or answer them by `dvc exp run` and give the file a column answer"
        )
    language = parse(WrittenIn, config["written_in"], "written_in")
    lacking = {str(place): row for place, row in enumerate(rows) if row.answer is None}
    used = settings.documents if settings.context == "retrieved" else 0
    shown = {
        key: show(_documents(row.contexts or ())[:used], settings.tokens)
        for key, row in lacking.items()
    }
    task = AnswerTask(settings, language, [_asked(*each) for each in lacking.items()], shown)
    return Workflow(task, Path(ANSWERS[1].format(config["benchmark"]["name"])), checkout())


def _documents(texts: Sequence[str]) -> list[Document]:
    return [Document(str(place), text, "", "", False) for place, text in enumerate(texts)]


def _asked(key: str, row: RagasRow) -> Question:
    return Question(key, row.question, row.ground_truth, (), "", "ad-hoc")


def with_answers(rows: Sequence[RagasRow], work: Workflow[AnswerTask]) -> list[RagasRow]:
    """The rows, with what the generator answered, and what it was shown as their contexts.

    Raises:
        MemoryMiss: answers are missing.
    """
    answers = {
        line["question_id"]: line["answer"] for line in answered(work.use, work.kept.known())
    }
    return [
        replace(
            row,
            answer=answers[str(place)],
            contexts=work.use.shown[str(place)].texts or row.contexts,
        )
        if row.answer is None
        else row
        for place, row in enumerate(rows)
    ]
