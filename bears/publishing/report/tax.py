"""What translation cost each retriever, as `python -m bears tax` keeps it."""

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
"""One file; what is not named here is passed over."""


def read_taxes(folder: Path, state: str) -> Iterator[Tax]:
    """Those of the benchmark in this state, by retriever. Raises FormatError."""
    for file in sorted(folder.glob("*.json")):
        try:
            found = TypeAdapter(Tax).validate_python(read_json(file))
        except ValidationError as error:
            raise FormatError(
                f"{file} is no tax: {problems_of(error)}; `python -m bears tax` writes one"
            ) from None
        if found["state"] == state:
            yield found
