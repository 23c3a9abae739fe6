"""The tables and printed numbers of both READMEs, made again."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.workspace import ROOT, Workspace, finished

READMES = ("README.md", "README.zh-TW.md")


def table_below(readme: str, before: str) -> list[str]:
    """The rows of the first table of metrics below the line that holds ``before``."""
    text = (ROOT / readme).read_text(encoding="utf-8")
    _, _, below = text.partition(before)
    found = re.search(r"^ +all .*?(?=\n```)", below, re.DOTALL | re.MULTILINE)
    assert found, f"{readme} has no table below {before!r}"
    return [row.strip() for row in found[0].splitlines()]


def assert_shown(workspace: Workspace, before: str) -> None:
    shown = {row.strip() for row in workspace.python("bears", "show").splitlines()}
    for readme in READMES:
        rows = table_below(readme, before)
        assert len(rows) > 5
        assert [row for row in rows if row not in shown] == [], readme


@pytest.fixture
def workspace(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return finished(tmp_path_factory.getbasetemp())[0].copied(tmp_path / "project")


def test_the_table_of_mini_is_what_the_pipeline_gives(workspace: Workspace) -> None:
    assert_shown(workspace, "make repro")


@pytest.mark.slow
def test_the_difference_of_two_retrievers_is_what_dvc_prints(workspace: Workspace) -> None:
    workspace.dvc("exp", "run", "-S", "retriever=wordllama")
    printed = {" ".join(row.split()) for row in workspace.dvc("metrics", "diff").splitlines()}
    for readme in READMES:
        text = (ROOT / readme).read_text(encoding="utf-8")
        rows = re.findall(r"^metrics/headline.json  .*$", text, re.MULTILINE)
        assert len(rows) == 5
        assert [row for row in rows if " ".join(row.split()) not in printed] == [], readme


@pytest.mark.slow
def test_the_table_of_bears_is_what_the_pipeline_gives(
    workspace: Workspace, shared_data: Path
) -> None:
    workspace.python("bears", "memory", "import", "bears", str(shared_data / "bears-published"))
    words = ["-S", "benchmark=bears", "-S", f"mirror={shared_data / 'raw'}"]
    workspace.dvc("exp", "run", *words)
    assert_shown(workspace, "dvc exp run -S benchmark=bears\n")
    found = json.loads(workspace.text("metrics/verification.json"))
    answers, terms = found["answer_preserved"], found["terms"]
    several = round(terms * (1 - found["term_consistency"]))
    stated = (ROOT / "docs/bears.md").read_text(encoding="utf-8")
    assert (
        f"of {answers['n']} answers that are not yes/no, all stand in the English gold, case "
        f"aside; in the Chinese {answers['exact']} to the letter, {answers['normalised']} more "
        f"without parentheses and punctuation, {answers['alias']} more under an alias, "
        f"{answers['lost']} not at all" in stated
    )
    assert f"of {several} of {terms} names" in stated
    assert found["gates"]["question_mood"] == found["gates"]["yes_no"] == 0


@pytest.mark.slow
def test_the_numbers_of_scifact_are_what_the_pipeline_gives(
    workspace: Workspace, shared_data: Path
) -> None:
    workspace.dvc("exp", "run", "-S", "benchmark=scifact", "-S", f"mirror={shared_data}")
    means = json.loads(workspace.text("metrics/retrieval.json"))["all"]
    given = (f"{means['ndcg@10']:.4f}", f"{means['recall@100']:.4f}")
    for readme in READMES:
        text = (ROOT / readme).read_text(encoding="utf-8")
        stated = re.findall(r"^SciFact .*nDCG@10 (0\.\d+).*recall@100 (0\.\d+)", text, re.MULTILINE)
        assert stated == [given], readme


@pytest.mark.slow
def test_the_score_of_a_submission_is_what_submit_prints(
    workspace: Workspace, shared_data: Path
) -> None:
    words = ["-S", "benchmark=pandachat-sl", "-S", f"mirror={shared_data}"]
    workspace.dvc("exp", "run", *words)
    file = shared_data / "pandachat/submissions/submission_qdrant-client_evaluation.json"
    command = ["submit", "score", str(file), "--benchmark", "pandachat-sl"]
    printed = workspace.python("bears", *command).splitlines()
    for readme in READMES:
        text = (ROOT / readme).read_text(encoding="utf-8")
        found = re.search(r"submit score FILE --benchmark pandachat-sl\n(.*?)```", text, re.DOTALL)
        assert found, f"{readme} does not show how to score a submission"
        shown = found[1].splitlines()
        assert len(shown) == 4
        missing = [row for row in shown if not any(fits(row, line) for line in printed)]
        assert missing == [], f"{readme} shows what is not printed:\n" + "\n".join(printed)


def fits(row: str, line: str) -> bool:
    """Whether a line is what a README shows of it; ``…`` there stands for what is left out."""
    return re.fullmatch(".*".join(map(re.escape, row.split("…"))), line) is not None


@pytest.mark.slow
def test_the_small_models_answers_and_verdicts_are_replayed(workspace: Workspace) -> None:
    workspace.dvc("exp", "run", "-S", "generator=local", "-S", "judge=local")
    judged = json.loads(workspace.text("metrics/answers.json"))["all"]
    page = (ROOT / "docs/answers.md").read_text(encoding="utf-8")
    (row,) = re.findall(
        r"^\| `local` \| (\.\d+) \| (\.\d+) \| 11 of 18 \| (\.\d+)", page, re.MULTILINE
    )
    names = ("answer_f1", "exact_match", "evidence_f1")
    assert row == tuple(f"{judged[name]:.3f}".lstrip("0") for name in names)
    assert (judged["pass_rate"], judged["causes"]["judge_doubt"]) == (0.5, 2)
    assert "it passed 9 of\nthe 18, all of them right, and failed two" in page


MANUALS = {
    "terms/guarantee.md": "# Guarantee\n\nThe guarantee lasts two years. It ends when seals break.",
    "pump.html": "<h1>Pump</h1><p>Repairs are done by the <b>dealer</b> who sold it.</p>",
    "notes/colours of lamps.txt": "Lamps come in red, green and white.",
    "notes/boxes.txt": "A box holds twelve lamps and one manual.",
}


@pytest.mark.slow
@pytest.mark.parametrize("readme", READMES)
def test_the_path_from_a_folder_to_a_decision_is_as_it_is_written(
    workspace: Workspace, tmp_path: Path, readme: str
) -> None:
    text = (ROOT / readme).read_text(encoding="utf-8")
    path = text[text.index("```\nquestion,answer,document") :]
    questions, *commands = re.findall(r"```\n(.*?)```", path, re.DOTALL)[:3]
    folder = tmp_path / "manuals"
    for name, content in {**MANUALS, "questions.csv": questions}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    told = {}
    for command in re.findall(r"^\$ (.*)", "".join(commands), re.MULTILINE):
        line = command.replace("/data/manuals", str(folder))
        line = line.replace("make report", "python -m bears report")
        told[command] = workspace.run("bash", "-c", line)
        if "judgements pool" in command:
            decide(workspace.root / "pool.csv")
    assert "bm25" in told["python -m bears compare"]
    assert "2 systems on own" in told["make report"]
    report = workspace.text("report.html")
    assert "Repairs are done by the dealer who sold it." in report
    gold = {q["question"]: q["gold_doc_ids"] for q in records(workspace, "queries")}
    assert list(gold.values()) == [["terms/guarantee.md"], ["pump.html"], []]
    measured = json.loads(workspace.text("metrics/retrieval.json"))
    assert measured["all"]["n_undefined"] == 1
    assert measured["audited"]["success@10"] == 1
    assert "n_undefined" not in measured["audited"]


def records(workspace: Workspace, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(workspace.text(f"data/own/translated/{name}.json"))
    return found


def decide(table: Path) -> None:
    """As a person would: the only page about seals is relevant."""
    header, *rows = csv.reader(table.read_text(encoding="utf-8").splitlines(keepends=True))
    for row in rows:
        cells = dict(zip(header, row, strict=True))
        relevant = "voids" in cells["question"] and "seals" in cells["document"]
        row[header.index("decision")] = "relevant" if relevant else "not"
    with table.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
