"""Make the tables, numbers and commands of both READMEs and of docs/ again."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.sheets import on_page, saved
from tests.workspace import ROOT, Workspace, finished

READMES = ("README.md", "README.zh-TW.md")


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def table_of(name: str) -> list[str]:
    """Return the rows of the first table of metrics on a page."""
    found = re.search(r"^ +all .*?(?=\n```)", page(name), re.DOTALL | re.MULTILINE)
    assert found, f"{name} has no table of metrics"
    return [row.strip() for row in found[0].splitlines()]


def assert_shown(workspace: Workspace, *pages: str) -> None:
    shown = {row.strip() for row in workspace.python("bears", "show").splitlines()}
    for name in pages:
        rows = table_of(name)
        assert len(rows) > 5
        assert [row for row in rows if row not in shown] == [], name


@pytest.mark.slow
def test_the_table_of_mini_is_what_the_pipeline_gives(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    assert_shown(finished(tmp_path_factory.getbasetemp())[0], *READMES)


@pytest.mark.slow
def test_the_readmes_are_short_and_their_library_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert all(len(page(readme).splitlines()) <= 125 for readme in READMES)
    example, same = (
        re.findall(r"```python\n(.*?)```", page(readme), re.DOTALL) for readme in READMES
    )
    assert example == same
    monkeypatch.chdir(tmp_path)
    exec(example[0], {})
    printed = capsys.readouterr().out
    assert printed.startswith("1.0\n")
    assert "undecided" in printed  # Two questions prove nothing.


def test_every_link_of_the_pages_leads_to_a_file_and_a_heading() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    for path in pages:
        for target in re.findall(
            r"\]\(([^)#\s]*(?:#[^)\s]*)?)\)", path.read_text(encoding="utf-8")
        ):
            if not target.startswith(("http", "mailto")):
                name, _, anchor = target.partition("#")
                file = (path.parent / name).resolve() if name else path
                assert file.exists(), f"{path.name}: {target}"
                assert not anchor or anchor in anchors(file), f"{path.name}: {target}"


def anchors(file: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.slow
def test_the_difference_of_two_retrievers_is_what_dvc_prints(sharing: Workspace) -> None:
    sharing.dvc("exp", "run", "-S", "retriever=wordllama")
    printed = {" ".join(row.split()) for row in sharing.dvc("metrics", "diff").splitlines()}
    rows = re.findall(r"^metrics/headline.json  .*$", page("docs/comparison.md"), re.MULTILINE)
    assert len(rows) == 5
    assert [row for row in rows if " ".join(row.split()) not in printed] == []


@pytest.mark.slow
def test_the_table_of_bears_is_what_the_pipeline_gives(
    sharing: Workspace, shared_data: Path
) -> None:
    sharing.python("bears", "replies", "import", "bears", str(shared_data / "bears-published"))
    words = ["-S", "benchmark=bears", "-S", f"mirror={shared_data / 'raw'}"]
    sharing.dvc("exp", "run", *words)
    assert_shown(sharing, "docs/bears.md")
    assert len(json.loads(sharing.text("data/bears/translated/corpus.json"))) == 600
    assert json.loads(sharing.text("metrics/retrieval.json"))["all"]["n"] == 60
    found = json.loads(sharing.text("metrics/verification.json"))
    assert found["errors"] == 0
    answers, terms = found["answer_preserved"], found["terms"]
    several = round(terms * (1 - found["term_consistency"]))
    stated = (ROOT / "docs/bears.md").read_text(encoding="utf-8")
    assert (
        f"of {answers['n']} answers that are not yes/no, the English gold contains all, ignoring "
        f"case; the Chinese gold contains {answers['exact']} word for word, "
        f"{answers['normalised']} more without parentheses and punctuation, {answers['alias']} "
        f"more under an alias, and lacks {answers['lost']}" in stated
    )
    assert f"of {several} of {terms} names" in stated
    assert found["gates"]["question_mood"] == found["gates"]["yes_no"] == 0


@pytest.mark.slow
def test_the_numbers_of_scifact_are_what_the_pipeline_gives(
    sharing: Workspace, shared_data: Path
) -> None:
    sharing.dvc("exp", "run", "-S", "benchmark=scifact", "-S", f"mirror={shared_data}")
    means = json.loads(sharing.text("metrics/retrieval.json"))["all"]
    given = (f"{means['ndcg@10']:.4f}", f"{means['recall@100']:.4f}")
    text = page("docs/configuration.md")
    stated = re.findall(r"^SciFact .*nDCG@10 (0\.\d+).*recall@100 (0\.\d+)", text, re.MULTILINE)
    assert stated == [given]


@pytest.mark.slow
def test_the_score_of_a_submission_is_what_submit_prints(
    sharing: Workspace, shared_data: Path
) -> None:
    words = ["-S", "benchmark=pandachat-sl", "-S", f"mirror={shared_data}"]
    sharing.dvc("exp", "run", *words)
    file = shared_data / "pandachat/submissions/submission_qdrant-client_evaluation.json"
    command = ["submit", "score", str(file), "--benchmark", "pandachat-sl"]
    printed = sharing.python("bears", *command).splitlines()
    text = page("docs/submissions.md")
    found = re.search(r"submit score FILE --benchmark pandachat-sl\n(.*?)```", text, re.DOTALL)
    assert found
    shown = found[1].splitlines()
    assert len(shown) == 4
    missing = [row for row in shown if not any(fits(row, line) for line in printed)]
    assert missing == [], "shown, but not printed:\n" + "\n".join(printed)


def fits(row: str, line: str) -> bool:
    """Return whether a line is what a page shows of it, where ``…`` marks an omission."""
    return re.fullmatch(".*".join(map(re.escape, row.split("…"))), line) is not None


@pytest.mark.slow
def test_the_small_models_answers_and_verdicts_are_replayed(sharing: Workspace) -> None:
    sharing.dvc("exp", "run", "-S", "generator=local", "-S", "judge=local")
    judged = json.loads(sharing.text("metrics/answers.json"))["all"]
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


def path_of(readme: str) -> tuple[str, list[str]]:
    """Return the table of questions on a page, and the commands that follow, without comments."""
    text = page(readme)
    path = text[text.index("```\nquestion,answer,document") :]
    questions, commands = re.findall(r"```\n(.*?)```", path, re.DOTALL)[:2]
    return questions, re.findall(r"^\$ (.*?)(?: +#.*)?$", commands, re.MULTILINE)


@pytest.mark.slow
def test_the_path_from_a_folder_to_a_decision_is_as_both_pages_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    questions, (install, *lines) = path_of(READMES[0])
    assert path_of(READMES[1]) == (questions, [install, *lines])
    folder = tmp_path / "my documents"
    for name, content in {**MANUALS, "questions.csv": questions}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    printed = {}
    workspace = Workspace(tmp_path / "manuals")
    assert install.startswith("pip install CLONE")
    for command in lines:
        # The first one makes the project, which the others are run in.
        where = workspace if workspace.root.exists() else Workspace(tmp_path)
        line = command.replace("/data/manuals", shlex.quote(str(folder)))
        printed[command] = where.run("bash", "-c", line)
        if "judgements pool" in command:
            decide(workspace.root / "pool.html")
    assert len(printed) == 7
    assert "2 questions with gold in questions.csv" in printed[lines[0]]
    assert "bm25" in printed["bears compare"]
    assert "2 systems on manuals" in printed["bears report"]
    report = workspace.text("report.html")
    assert "Repairs are done by the dealer who sold it." in report
    gold = {q["question"]: q["gold_doc_ids"] for q in records(workspace, "queries")}
    assert list(gold.values()) == [["terms/guarantee.md"], ["pump.html"], []]
    measured = json.loads(workspace.text("metrics/retrieval.json"))
    assert measured["all"]["success@10"] == 1
    assert measured["benchmark"]["decisions"] == len(records(workspace, "corpus"))
    assert "success@10" not in measured["undefined"]


def records(workspace: Workspace, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(workspace.text(f"data/manuals/translated/{name}.json"))
    return found


def decide(page: Path) -> None:
    """Save what a person would decide on the page: only the document about seals is relevant."""
    rows = on_page(page)
    for row in rows:
        relevant = "voids" in row["question"] and "seals" in row["document"]
        row["decision"] = "relevant" if relevant else "not"
    saved(page.with_suffix(".json"), rows)
