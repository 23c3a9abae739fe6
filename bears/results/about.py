"""When a system was run, how long that took, which model answered, and what failed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bears.evaluation.timing import Work, work_on
from bears.files.records import sha256_of
from bears.files.traces import read_traces
from bears.trace import Trace
from bears.types import Question


@dataclass(frozen=True, slots=True)
class About:
    """How a system was run, as far as this checkout knows.

    Args:
        questions: how many it was asked.
        papers: how many papers these are about; 0 where questions are not about papers.
        retrieve, generate: the work of these stages.
        errors: question_id to what failed.
    """

    questions: int
    papers: int
    retrieve: Work = field(default_factory=Work)
    generate: Work = field(default_factory=Work)
    errors: Mapping[str, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return it for people to read."""
        papers = f", {self.papers} papers" if self.papers else ""
        found = [f"{self.questions} questions{papers}"]
        for stage, work in (("retrieve", self.retrieve), ("generate", self.generate)):
            if "started" in work:
                model = f", model {work['model']}" if work.get("model") else ""
                found.append(f"{stage}: started {work['started']}, {work['seconds']:g} s{model}")
        found += [f"errors: {len(self.errors)}"] * bool(self.errors)
        return found + [f"  {key}: {error}" for key, error in self.errors.items()]


def about(
    questions: Sequence[Question],
    run: Path | None,
    answers: Path | None,
    traces: Path | None = None,
) -> About:
    """Return how a system was run.

    Args:
        questions: all of the benchmark.
        run, answers: what the pipeline wrote.
        traces: what a system recorded by itself.

    Raises:
        FormatError: a file is damaged.
    """
    retrieved = work_on(sha256_of(run)) if run and run.is_file() else Work()
    failed = retrieved.pop("failed", {})
    errors = {q.question_id: failed[q.question] for q in questions if q.question in failed}
    written = answers or traces
    found = list(read_traces(written)) if written and written.is_file() else []
    generated = _recorded(found)
    if answers and found:
        generated |= work_on(sha256_of(answers))
    for trace in found:
        if error := trace.error or trace.given_up:
            errors[trace.question_id] = error
    papers = len({question.group for question in questions} - {""})
    return About(len(questions), papers, retrieved, generated, errors)


def _recorded(traces: Sequence[Trace]) -> Work:
    """Return what traces say of when they were recorded, how long they took, and of models."""
    found = Work()
    if asked := [trace.asked for trace in traces if trace.asked]:
        found["started"] = min(asked)
        found["seconds"] = sum(trace.seconds or 0.0 for trace in traces)
    if models := dict.fromkeys(call.model for trace in traces for call in trace.calls):
        found["model"] = ", ".join(models)
    return found
