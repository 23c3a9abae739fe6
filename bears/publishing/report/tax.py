"""Read what translation cost each retriever, as `bears tax` wrote it."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bears.errors import FormatError
from bears.files.records import problems_of, read_json


class Difference(TypedDict):
    """A measure before and after translation."""

    original: float | None
    translated: float | None
    difference: float | None
    low: float | None
    high: float | None


Tax = TypedDict(
    "Tax",
    {
        "state": str,
        "retriever": str,
        "questions": int,
        "ndcg@10": Difference,
        "without_parentheses": dict[str, Difference],
    },
)
"""One file; fields that are not named here are ignored."""


def read_taxes(folder: Path, state: str) -> Iterator[Tax]:
    """Yield the results for a state of the benchmark, by retriever.

    Raises:
        FormatError: a file is malformed.
    """
    for file in sorted(folder.glob("*.json")):
        try:
            tax = TypeAdapter(Tax).validate_python(read_json(file))
        except ValidationError as error:
            raise FormatError(
                f"{file} is not a result of `bears tax`: {problems_of(error)}; run that again"
            ) from None
        if tax["state"] == state:
            yield tax
