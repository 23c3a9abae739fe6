"""Follow docs/sharing.md and docs/ci.md with two clones and a folder as the remote."""

import json
import re
from pathlib import Path

import pytest

from tests.workspace import ROOT, Workspace


def commands(page: str, section: int) -> list[str]:
    """Return the commands of one block of a page."""
    blocks = re.findall(r"```\n(\$ .*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    return [line.removeprefix("$ ") for line in blocks[section].splitlines()]


@pytest.mark.slow
def test_a_second_clone_pulls_everything_and_runs_nothing(
    workspace: Workspace, tmp_path: Path
) -> None:
    for command in commands("docs/sharing.md", 0):
        workspace.run("bash", "-c", command.replace("/srv/bears", str(tmp_path / "remote")))
    workspace.git("clone", "--quiet", str(workspace.root), str(tmp_path / "clone"))
    clone = Workspace(tmp_path / "clone")
    pull, repro = commands("docs/sharing.md", 1)
    clone.run("bash", "-c", pull)
    assert "Running stage" not in clone.run("bash", "-c", repro)
    assert clone.git("status", "--short") == ""
    run = "data/mini/runs/bm25.trec"
    assert clone.text(run) == workspace.text(run)


@pytest.mark.slow
def test_the_check_for_ci_fails_if_the_base_is_better(workspace: Workspace, tmp_path: Path) -> None:
    workspace.git("branch", "--force", "base")
    workspace.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    clone = Workspace(tmp_path / "clone")
    clone.dvc("repro")
    clone.edit("params.yaml", "retriever: bm25", "retriever: wordllama")
    clone.dvc("repro")
    compare, check = commands("docs/ci.md", 0)
    clone.run("bash", "-c", compare.replace("bears", "python -m bears").replace("main", "base"))
    clone.run("bash", "-c", check)
    file = clone.root / "metrics/comparison.json"
    found = json.loads(file.read_text(encoding="utf-8"))
    found["pairs"][0]["verdict"] = "origin/base better"
    file.write_text(json.dumps(found), encoding="utf-8")
    clone.run("bash", "-c", check, code=1)
