"""The commands of docs/troubleshooting.md remove what a kill leaves."""

import re

import pytest

from tests.workspace import ROOT, Workspace

LEFT = {
    ".git/index.lock": b"",
    ".dvc/tmp/rwlock": b'{"wri',
    ".dvc/tmp/exps/rwlock": b'{"wri',
    "data/mini/runs/.bm25.trec.x.tmp": b"1 Q0",
    "dvc.lock": b"schema: '2.0'\nsta",
}


@pytest.mark.slow
def test_the_fixes_of_the_table_mend_a_project_that_a_kill_left(workspace: Workspace) -> None:
    workspace.git("checkout", "--quiet", "--detach", "HEAD")
    for path, content in LEFT.items():
        (workspace.root / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace.root / path).write_bytes(content)
    page = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
    table = page.split("## After a kill")[1].split("\n## ")[0]
    fixes = re.findall(r"\| `([^|`]*)`[^|`]* \|$", table, re.MULTILINE)
    assert len(fixes) == 6
    for fix in fixes:
        if fix != "kill 123":
            workspace.run("bash", "-c", fix)
    assert workspace.git("symbolic-ref", "--short", "HEAD") == "main\n"
    assert not (workspace.root / "data/mini/runs/.bm25.trec.x.tmp").exists()
    assert "Data and pipelines are up to date." in workspace.dvc("repro")
