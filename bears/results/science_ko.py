"""The submission file of the Korean science question answering task."""

from collections.abc import Mapping
from typing import Any

from bears.types import Question, Ranking

TOP = 3
"""Documents that the task scores."""


def submission_row(
    question: Question, query: str, ranking: Ranking, texts: Mapping[str, str]
) -> dict[str, Any]:
    """Return one line: eval_id, standalone_query, topk, answer, references.

    Args:
        question: its id is the task's eval_id, written as a number if it is one.
        query: the text that was given to the retriever.
        ranking: best first; empty if nothing needs to be retrieved.
        texts: doc_id to content, for the references.
    """
    best = ranking[:TOP]
    eval_id = question.question_id
    return {
        "eval_id": int(eval_id) if eval_id.isascii() and eval_id.isdigit() else eval_id,
        "standalone_query": query,
        "topk": [hit.doc_id for hit in best],
        "answer": "",
        "references": [{"score": hit.score, "content": texts.get(hit.doc_id, "")} for hit in best],
    }
