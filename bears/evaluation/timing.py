"""How long a run took, as `retrieve` wrote it beside the run."""

from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bears.errors import FormatError
from bears.files.intake.json_text import json_value
from bears.files.records import problems_of


class Percentiles(TypedDict):
    """Milliseconds of a question."""

    p50: float
    p95: float


class Timing(TypedDict):
    """What is read of a timing file; docs/pipeline.md has all of it."""

    run_sha256: str
    load_s: float
    seconds_per_question: float
    stages_ms: dict[str, Percentiles]


def read_timing(timing: Path, run: str) -> Timing | None:
    """The timing of the run of this sha256; None where there is no file, or it is another run's.

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
    """Return a line on the timing of the run of this sha256, also where there is none."""
    if measured := read_timing(timing, run):
        stages = measured["stages_ms"].items()
        spent = ", ".join(f"{stage} {ms['p50']:.2f}/{ms['p95']:.2f}" for stage, ms in stages)
        return f"latency: ms a question, p50/p95: {spent}; index loaded in {measured['load_s']} s"
    return (
        "latency not measured: this run has no timing here (measure ours: dvc repro -sf retrieve)"
    )
