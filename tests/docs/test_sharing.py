"""Follow docs/sharing.md with two clones and a folder as the remote."""

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
