"""Read what translation cost each retriever, as `bears tax` wrote it."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bears.errors import FormatError
from bears.files.records import problems_of, read_json


class Tax(TypedDict):
    """One file; fields that are not named here are ignored."""

    state: str
    retriever: str
    questions: int
    original: float
    translated: float
    difference: float
    low: float | None
    high: float | None


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
