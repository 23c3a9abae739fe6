"""The workflows that `bears init --ci` writes, played through on pull requests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from bears.cli import main
from bears.cli.init import WORKFLOWS
from tests.workspace import ROOT, Workspace, finished

ALWAYS_THE_SAME = """
import json
from pathlib import Path

DOCUMENTS = json.loads(Path("data/mini/translated/corpus.json").read_text("utf-8"))


def search(query, k):
    return [{"id": document["doc_id"]} for document in DOCUMENTS[:3]]
"""


def commands(kind: str, text: str) -> list[str]:
    """Return the scripts of a workflow, but for those that install packages and comment."""
    whole: Any = yaml.safe_load(text)
    if kind == "github":
        scripts = [step.get("run", "") for step in whole["jobs"]["gate"]["steps"]]
    else:
        scripts = [*whole["gate"]["before_script"], *whole["gate"]["script"]]
    return [each for each in scripts if each and not re.search("pip install|gh pr", each)]


@pytest.mark.slow
@pytest.mark.usefixtures("dvc_starts_once")
@pytest.mark.parametrize("kind", WORKFLOWS)
def test_a_workflow_is_written_into_a_new_project_and_into_one_that_is_there(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "new", "--ci", kind]) == 0
    assert main(["init", "old"]) == 0
    (tmp_path / "old/requirements.txt").write_text("mine\n")
    assert main(["init", "old", "--ci", kind]) == 0
    assert (tmp_path / "old/requirements.txt").read_text() == "mine\n"
    texts = {(tmp_path / name / WORKFLOWS[kind]).read_text("utf-8") for name in ("old", "new")}
    (text,) = texts
    # The page has the whole of it.
    assert f"```yaml\n{text}```" in (ROOT / "docs/ci.md").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("kind", WORKFLOWS)
def test_pull_requests_fail_if_they_are_worse_and_only_then(
    kind: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = Workspace(tmp_path)
    outside.python("bears", "init", "origin", "--ci", kind)
    origin = Workspace(tmp_path / "origin")
    origin.git("branch", "--move", "main")
    (origin.root / "own.py").write_text(ALWAYS_THE_SAME)
    # It was never run, so the base has no results yet.
    origin.commit()
    branches = {
        "worse": ("params.yaml", "retriever: bm25", "retriever: mine"),
        "other": ("params.yaml", "overrides: []", "overrides: ['sample.seed=7']"),
    }
    outside.git("clone", "--quiet", "origin", "clone")
    session = tmp_path_factory.getbasetemp()
    finished(session)
    clone = Workspace(tmp_path / "clone").sharing(session)
    word = ROOT / "conf/retriever/mine.yaml"
    for branch, (path, old, new) in branches.items():
        origin.git("checkout", "--quiet", "-b", branch, "main")
        text = origin.text(path)
        (origin.root / path).write_text(text.replace(old, new, 1))
        assert origin.text(path) != text
        (origin.root / "conf/retriever").mkdir(parents=True, exist_ok=True)
        own = word.read_text("utf-8").replace("call: ''", "call: own:search")
        (origin.root / "conf/retriever/mine.yaml").write_text(own)
        origin.commit()
    clone.git("fetch", "--quiet")
    changes = [
        ("worse", "main", 1, "fail"),
        ("main", "worse", 0, "pass"),
        ("other", "main", 3, "not comparable"),
    ]
    # Both workflows run the same commands.
    for branch, base, code, verdict in changes[1:] if kind == "github" else changes[:1]:
        clone.git("checkout", "--quiet", "--force", "--detach", f"origin/{branch}")
        commit = clone.git("rev-parse", "HEAD").strip()
        names = {"GITHUB_BASE_REF": base, "GITHUB_SHA": commit}
        names |= {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": base, "CI_COMMIT_SHA": commit}
        *before, last = commands(kind, clone.text(str(WORKFLOWS[kind])))
        for script in before:
            clone.run("bash", "-eo", "pipefail", "-c", script, variables=names)
        clone.run("bash", "-eo", "pipefail", "-c", last, code=code, variables=names)
        assert clone.text("gate.md").startswith(f"{verdict}: "), (branch, base)
        assert "<testsuite " in clone.text("gate.xml")
