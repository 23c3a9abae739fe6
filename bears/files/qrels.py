"""Files of judgements: BEIR's ``query-id, corpus-id, score``, and TREC's with four columns."""

import re
from collections.abc import Iterator
from pathlib import Path

from bears.errors import FormatError, MalformedRow
from bears.files.intake.files import decoded, numbered_lines

QUERY, DOCUMENT, SCORE = COLUMNS = ("query-id", "corpus-id", "score")
TREC = (QUERY, "iteration", DOCUMENT, SCORE)
# A grade that went through a table of floats is 1.0.
GRADE = re.compile(r"[+-]?[0-9]{1,9}(\.0*)?")


def qrels_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number of each line, and its cells by the names in the header or by `COLUMNS`.

    Raises:
        MalformedRow: a line has another number of columns.
        FormatError: the file cannot be read.
    """
    names: list[str] = []
    for number, line in numbered_lines(path):
        text = decoded(line, f"{path}, line {number}").strip()
        # A hub's file has tabs, TREC's spaces as well.
        cells = text.split("\t") if "\t" in text else text.split()
        if number == 1 and not any(GRADE.fullmatch(cell) for cell in cells):
            names = [cell.lower() for cell in cells]
        elif cells:
            named = names or (TREC if len(cells) == len(TREC) else COLUMNS)
            if len(cells) != len(named):
                problem = f"{len(cells)} columns; expected {', '.join(named)}"
                raise MalformedRow(path.name, number, "(row)", problem)
            yield number, dict(zip(named, cells, strict=True))


def read_qrels(path: Path, highest: int = 999_999_999) -> dict[str, dict[str, int]]:
    """Return question_id to doc_id to grade; a grade below 0 is 0.

    Args:
        highest: the best grade.

    Raises:
        MalformedRow, FormatError: see `qrels_rows`; a grade is above the best one or not a whole
            number, or a pair has two grades.
    """
    found: dict[str, dict[str, int]] = {}
    for number, row in qrels_rows(path):
        question_id, doc_id, score = (row.get(name, "") for name in COLUMNS)
        if not GRADE.fullmatch(score) or float(score) > highest:
            raise FormatError(
                f"{path}, line {number}: the grade is {score!r:.80}; expected a whole number of at "
                f"most {highest}, in the order {', '.join(COLUMNS)} or as TREC's qrels"
            )
        grade = max(int(float(score)), 0)
        if found.setdefault(question_id, {}).setdefault(doc_id, grade) != grade:
            raise FormatError(f"{path}, line {number}: {doc_id!r:.80} has another grade before")
    return found
