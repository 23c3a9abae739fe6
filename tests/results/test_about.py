"""How a system was run: times, models and errors, beside files that are made byte for byte."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bears.errors import FormatError
from bears.evaluation.timing import Clock, kept_timing
from bears.files.records import sha256_of, write_json, write_text
from bears.files.traces import write_traces
from bears.results.about import about
from bears.trace import ModelCall, Trace
from bears.types import Question


def question(key: str, paper: str) -> Question:
    return Question(key, f"{key}?", "", (), "qasper", "extractive", group=paper)


ASKED = [question("q1", "a"), question("q2", "a"), question("q3", "b")]


def test_times_are_those_of_the_very_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run, answers = tmp_path / "bm25.trec", tmp_path / "answers.jsonl"
    write_text(run, "q1 Q0 d1 1 1.0 bm25\n")
    write_traces(answers, [Trace(question_id="q1", answer="yes")])
    before, clock = datetime.now(UTC).replace(microsecond=0), Clock()
    write_json(kept_timing(sha256_of(run)), {**clock.work(), "failed": {"q3?": "status 500"}})
    write_json(kept_timing(sha256_of(answers)), {**clock.work(), "model": "gpt-4.1"})
    found = about(ASKED, run, answers)
    assert (found.questions, found.papers) == (3, 2)
    assert found.generate["model"] == "gpt-4.1"
    started = datetime.fromisoformat(found.retrieve["started"])
    assert before <= started <= datetime.now(UTC)
    assert found.errors == {"q3": "status 500"}
    assert "generate: started" in "\n".join(found.lines())
    write_text(run, "q1 Q0 d2 1 1.0 bm25\n")
    assert about(ASKED, run, answers).retrieve == {}
    write_json(kept_timing(sha256_of(run)), {"started": 1})
    with pytest.raises(FormatError, match="remove the file"):
        about(ASKED, run, answers)


def test_a_system_that_records_itself_says_when_and_what_failed(tmp_path: Path) -> None:
    calls = (ModelCall("gpt-4.1"), ModelCall("gpt-4.1-mini"))
    times = ("2026-05-01T10:00:07+00:00", "2026-05-01T10:00:02+00:00")
    traces = [
        Trace(question_id="q1", answer="yes", calls=calls, asked=times[0], seconds=1.5),
        Trace(question_id="q2", answer="no", calls=calls[:1], asked=times[1], seconds=0.25),
        Trace(question_id="q3", answer="", error="timeout"),
        Trace(question_id="q3", answer="", given_up="refused by the server"),
    ]
    write_traces(tmp_path / "agent.traces.jsonl", traces)
    found = about(ASKED, None, None, tmp_path / "agent.traces.jsonl")
    assert found.generate == {
        "started": "2026-05-01T10:00:02+00:00",
        "seconds": 1.75,
        "model": "gpt-4.1, gpt-4.1-mini",
    }
    assert found.errors == {"q3": "refused by the server"}
    assert found.lines()[-2:] == ["errors: 1", "  q3: refused by the server"]
