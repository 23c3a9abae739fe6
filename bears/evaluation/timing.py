"""The timing that `retrieve` writes beside a run."""

from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bears.errors import FormatError
from bears.files.intake.json_text import json_value
from bears.files.records import problems_of


class Percentiles(TypedDict):
    """Milliseconds per question."""

    p50: float
    p95: float


class Timing(TypedDict):
    """The part of a timing file that is read; docs/files.md describes all of it."""

    run_sha256: str
    load_s: float
    seconds_per_question: float
    stages_ms: dict[str, Percentiles]


def read_timing(timing: Path, run: str) -> Timing | None:
    """Read the timing of the run with this sha256; None if the file is missing or of another run.

    Raises:
        FormatError: the file is damaged.
    """
    if not timing.exists():
        return None
    try:
        measured = TypeAdapter(Timing).validate_python(json_value(timing))
    except ValidationError as error:
        raise FormatError(f"{timing}: {problems_of(error)}; remove the file") from None
    return measured if measured["run_sha256"] == run else None


def latency(timing: Path, run: str) -> str:
    """Return a line on the timing of the run with this sha256, also if it was not measured."""
    if measured := read_timing(timing, run):
        stages = measured["stages_ms"].items()
        spent = ", ".join(f"{stage} {ms['p50']:.2f}/{ms['p95']:.2f}" for stage, ms in stages)
        return f"latency: ms a question, p50/p95: {spent}; index loaded in {measured['load_s']} s"
    return (
        "latency not measured: this run has no timing here (measure ours: dvc repro -sf retrieve)"
    )
