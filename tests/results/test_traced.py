"""The system whose traces a benchmark was drawn from is compared with retrievers at once."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.provider_server import ProviderServer
from tests.workspace import Workspace

TOWNS = ("Innsbruck", "Prague", "Heidelberg", "Geneva", "Copenhagen", "Bonn", "Rotterdam", "Zurich")
PARTS = ("castle", "cathedral", "market", "bridge")
TRACED = "traces/ours/ours.traces.jsonl"


def row(number: int, question: str, found: list[str], answer: str) -> str:
    """Return a row of a program's own log."""
    time = f"2026-11-{1 + number // 8:02}T10:{number:02}:00"
    return json.dumps({"time": time, "question": question, "sources": found, "answer": answer})


@pytest.mark.slow
def test_from_traces_to_a_table_in_two_commands(
    tmp_path: Path, provider: Callable[..., ProviderServer]
) -> None:
    """The judge grades by words in common; the logged system finds every second document."""
    documents = tmp_path / "documents"
    documents.mkdir()
    pairs = [(town, part) for town in TOWNS for part in PARTS]
    for town, part in pairs:
        text = f"The {part} of {town} is old."
        (documents / f"{town}-{part}.md").write_text(text)
    rows = [
        row(
            number,
            f"Age {part} {town} built when?",
            [f"{town}-{part}.md"] if number % 2 else [f"{TOWNS[0]}-{PARTS[0]}.md"],
            "In summer.",
        )
        for number, (town, part) in enumerate(pairs)
    ]
    log = tmp_path / "app.log.jsonl"
    log.write_text("\n".join(rows))
    options = ["--traces", str(log), "--documents", str(documents), "--set", "language=en"]
    said = Workspace(tmp_path).python("bears", "init", "ours", *options)
    assert "dvc exp run -S judge=relevance" in said
    project, server = Workspace(tmp_path / "ours"), provider("verdict")
    project.dvc("repro")
    assert "-S judge=relevance" in project.python("bears", "compare", code=1)
    settings = f"overrides=['judge.base_url={server.url}','judge.api_key_env=','judge.fill=auto']"
    table = project.dvc("exp", "run", "-S", "judge=local-relevance", "-S", settings)
    assert "which ask 32 questions" in said
    assert "ours.traces.jsonl" in table
    (graded,) = (each for each in table.splitlines() if each.startswith("graded_precision@10"))
    # What the table shows was kept, so that nothing is asked again.
    asked = server.stats()["requests"]
    found = json.loads(project.python("bears", "compare", "--format", "json"))
    assert server.stats()["requests"] == asked
    means = {
        each["name"]: each["measures"]["graded_precision@10"]["mean"] for each in found["systems"]
    }
    # Without a judge, there is a run of BM25 too.
    ours = "bm25 (local-relevance)"
    assert set(means) == {ours, TRACED}
    # One document of ten places is right for every second question, and for the first one.
    assert means[TRACED] == pytest.approx(17 / 32 / 10)
    assert float(graded.split()[-1]) == pytest.approx(17 / 32 / 10, abs=0.001)
    assert means[ours] == pytest.approx(0.1)
    (pair,) = (each for each in found["pairs"] if each["measure"] == "graded_precision@10")
    assert pair["verdict"] == f"{ours} better"
    assert not [each for each in found["warnings"] if "judges" in each]
    # The names that are shown work, and the page has the system too.
    project.python("bears", "labels", "next", ours, TRACED, "--what", "documents", "--count", "9")
    said = project.python("bears", "report", "--judge", "judge.html")
    assert "3 systems" in said
    page = project.text("report.html")
    assert TRACED in page
    # Its answers have no verdict.
    assert 'id="answers-caption"' not in page
    check_that_dropped_questions_are_left_out(project)


def check_that_dropped_questions_are_left_out(project: Workspace) -> None:
    """Drop the even questions, of which the logged system has one right."""
    table = project.root / "traces" / "ours" / "questions.csv"
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for number, each in enumerate(rows):
        each["decision"] = "accept" if number % 2 else "drop"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    project.dvc("repro")
    assert "16 questions are not in this benchmark" in project.python("bears", "compare")
    found = json.loads(project.text("metrics/comparison.json"))
    assert found["questions"] == 16
    means = [each["measures"]["graded_precision@10"]["mean"] for each in found["systems"]]
    assert means == pytest.approx([0.1, 0.1])
