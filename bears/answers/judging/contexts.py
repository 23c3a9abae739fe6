"""What a generator was shown when it answered, as far as its file of answers says it."""

from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bears.errors import FormatError
from bears.evaluation.answers.forms import read_rows
from bears.files.records import problems_of


@dataclass(frozen=True, slots=True)
class Context:
    """The documents of one answer.

    Args:
        shown: in the order in which they were shown; None where nobody knows.
        cut: those of them that were shortened.
        cited_not_given: how many citations name nothing that was shown.
    """

    shown: tuple[str, ...] | None = None
    cut: frozenset[str] = frozenset()
    cited_not_given: int = 0


class _Row(TypedDict):
    shown: NotRequired[list[str] | None]
    cut: NotRequired[list[str] | None]
    cited_not_given: NotRequired[int | None]


def read_contexts(path: Path) -> dict[str, Context]:
    """Question to what was shown, from the pipeline's answers; another system's say nothing of it.

    Raises:
        FormatError: naming the line that has something else under these names.
    """
    row_of = TypeAdapter(_Row)
    found = {}
    for given, value in read_rows(path):
        try:
            row = row_of.validate_python(value, strict=True)
        except ValidationError as error:
            raise FormatError(f"{given.where}: {problems_of(error)}") from None
        shown = row.get("shown")
        found[given.question_id] = Context(
            None if shown is None else tuple(shown),
            frozenset(row.get("cut") or ()),
            row.get("cited_not_given") or 0,
        )
    return found
