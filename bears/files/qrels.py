"""TREC's files of judgements: ``question_id 0 doc_id grade`` on a line."""

from pathlib import Path

from bears.errors import FormatError
from bears.files.intake.files import numbered_lines


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Return question_id to doc_id to grade; a grade below 0 is 0.

    Raises:
        FormatError: a line is not one of judgements, or a pair has two grades.
    """
    found: dict[str, dict[str, int]] = {}
    for number, line in numbered_lines(path):
        parts = line.decode("utf-8", "replace").split()
        try:
            question_id, _, doc_id, grade = parts
            value = max(int(grade), 0)
        except ValueError:
            raise FormatError(
                f"{path}, line {number}: {' '.join(parts)!r:.80}; expected question_id 0 doc_id "
                "grade, with a whole number as the grade"
            ) from None
        if found.setdefault(question_id, {}).setdefault(doc_id, value) != value:
            raise FormatError(f"{path}, line {number}: {doc_id!r:.80} has another grade before")
    return found
