"""What is searched for each question: JSON Lines, one a question."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from bears.errors import FormatError
from bears.files.intake.texts import blank
from bears.files.records import problems_of, read_lines, write_lines
from bears.types import Asked, Question

_ASKED = TypeAdapter(Asked)


def write_rewritten(path: Path, rows: Iterable[Asked]) -> int:
    """Write what is searched, atomically; returns how many questions there are."""
    return write_lines(path, map(asdict, rows))


def read_rewritten(path: Path, questions: Iterable[Question]) -> dict[str, Asked]:
    """Read what is searched for each of ``questions``, by its id, in their order.

    Raises:
        FormatError: naming the line that is none, is of no question or of one that had its line,
            or says to search for nothing or not to search for something; or a question without one.
    """
    found: dict[str, Asked] = {}
    wanted = [question.question_id for question in questions]
    known = set(wanted)
    for number, row in read_lines(path):
        try:
            # Strict, since a word for a truth value is an error; as JSON, since it knows no class.
            asked = _ASKED.validate_json(json.dumps(row), strict=True)
        except ValidationError as error:
            raise FormatError(f"{path}, line {number}: {problems_of(error)}") from None
        if problem := _problem(asked, known, found):
            raise FormatError(f"{path}, line {number}: question {asked.question_id!r} {problem}")
        found[asked.question_id] = asked
    if lacking := [question_id for question_id in wanted if question_id not in found]:
        raise FormatError(
            f"{path} lacks {len(lacking)} of {len(wanted)} questions, such as {lacking[0]!r}; "
            "`dvc repro rewrite` makes it anew"
        )
    return {question_id: found[question_id] for question_id in wanted}


def _problem(asked: Asked, known: set[str], found: dict[str, Asked]) -> str:
    if asked.question_id not in known:
        return "is not a question of this benchmark"
    if asked.question_id in found:
        return "has a line already"
    if asked.search and blank(asked.standalone_query):
        return "is searched, but its standalone_query is empty; search: false says that it is not"
    if not asked.search and asked.standalone_query:
        return "is not searched, but has a standalone_query; expected an empty one"
    return ""
