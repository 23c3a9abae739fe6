"""The time that stages took; `retrieve` and `generate` keep it in .bears/timing."""

import os
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import NotRequired, TypeVar

from typing_extensions import TypedDict

from bears.config import checkout
from bears.files.intake.files import read_whole
from bears.files.records import json_as
from bears.layout import TIMINGS

T = TypeVar("T")

BUSY = 0.25
"""A share of the processors; if other programs use more, times are doubtful."""


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
    others: NotRequired[float]
    index_s: NotRequired[float]
    index_bytes: NotRequired[int]
    seconds_by_question: NotRequired[dict[str, float]]


class Work(TypedDict, total=False):
    """The work of a stage on one file.

    Attributes:
        started: when, in UTC, as ISO 8601 has it.
        seconds: that it took.
        model: the one that answered.
        failed: each question on which a system outside failed, with the reason.
    """

    started: str
    seconds: float
    model: str
    failed: dict[str, str]


class Clock:
    """Measures the work of a stage from here on."""

    def __init__(self) -> None:
        self._started, self._begun = datetime.now(UTC), perf_counter()

    def work(self) -> Work:
        """Return the work up to now."""
        seconds = round(perf_counter() - self._begun, 3)
        return Work(started=self._started.isoformat(timespec="seconds"), seconds=seconds)


def used_by_others() -> float:
    """Return the processor time, in seconds, that other programs have used so far."""
    import psutil

    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    return float(sum(times[:8]) - idle - sum(os.times()[:4]))


def kept_timing(written: str) -> Path:
    """Return the file with the timing of the run, or of the answers, with this sha256."""
    return checkout() / TIMINGS / f"{written}.json"


def work_on(written: str) -> Work:
    """Return the work on the run, or on the answers, with this sha256; empty if unknown.

    Raises:
        FormatError: the file is damaged.
    """
    path = kept_timing(written)
    return _read(path, Work) if path.is_file() else Work()


def read_timing(timing: Path, run: str) -> Timing | None:
    """Read the timing of the run with this sha256; None if the file is missing or of another run.

    Raises:
        FormatError: the file is damaged.
    """
    measured = _read(timing, Timing) if timing.exists() else None
    return measured if measured and measured["run_sha256"] == run else None


def _read(path: Path, shape: type[T]) -> T:
    return json_as(shape, read_whole(path), f"{path} is damaged; remove the file")


def timing_of(run: str) -> Timing | None:
    """Return the timing of the run with this sha256, if it was measured in this project."""
    return read_timing(kept_timing(run), run)


def latency(timing: Path, run: str) -> str:
    """Return a line on the timing of the run with this sha256, also if it was not measured."""
    if measured := read_timing(timing, run):
        stages = measured["stages_ms"].items()
        spent = ", ".join(f"{stage} {ms['p50']:.2f}/{ms['p95']:.2f}" for stage, ms in stages)
        return f"latency: ms a question, p50/p95: {spent}; index loaded in {measured['load_s']} s"
    return (
        "latency not measured: this run has no timing here (measure ours: dvc repro -sf retrieve)"
    )
