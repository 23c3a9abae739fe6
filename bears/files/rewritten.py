"""The search for each question: JSON Lines, one per question."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from bears.errors import FormatError
from bears.files.records import json_as, read_lines, write_lines
from bears.files.visible import blank
from bears.types import Question, RewrittenQuestion


def write_rewritten(path: Path, rows: Iterable[RewrittenQuestion]) -> int:
    """Write the search for each question atomically; return how many there are."""
    return write_lines(path, map(asdict, rows))


def read_rewritten(path: Path, questions: Iterable[Question]) -> dict[str, RewrittenQuestion]:
    """Return the search for each of ``questions`` by its id, in their order.

    Raises:
        FormatError: naming a line that is invalid, has an unknown or repeated question, or whose
            query contradicts ``search``; or a question without a line.
    """
    found: dict[str, RewrittenQuestion] = {}
    wanted = [question.question_id for question in questions]
    known = set(wanted)
    for number, row in read_lines(path):
        asked = json_as(RewrittenQuestion, json.dumps(row), f"{path}, line {number}")
        if problem := _problem(asked, known, found):
            raise FormatError(f"{path}, line {number}: question {asked.question_id!r} {problem}")
        found[asked.question_id] = asked
    if lacking := [question_id for question_id in wanted if question_id not in found]:
        raise FormatError(
            f"{path} lacks {len(lacking)} of {len(wanted)} questions, such as {lacking[0]!r}; "
            "`dvc repro rewrite` makes it again"
        )
    return {question_id: found[question_id] for question_id in wanted}


def _problem(asked: RewrittenQuestion, known: set[str], found: dict[str, RewrittenQuestion]) -> str:
    if asked.question_id not in known:
        return "is not a question of this benchmark"
    if asked.question_id in found:
        return "already has a line"
    if asked.search and blank(asked.standalone_query):
        return "is searched, but its standalone_query is empty; search: false says that it is not"
    return ""
