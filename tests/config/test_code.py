"""data/code.yaml: which edits make which stages stale."""

from __future__ import annotations

import shutil
from pathlib import Path

import grimp
import pytest

from bears.config.code import Modules, code_digests
from tests.workspace import ROOT, STAGES

READ: dict[str, dict[str, object]] = {stage: {} for stage in STAGES[1:]} | {
    "index": {"retriever": {"_target_": "bears.retrieval.sparse.bm25.BM25", "k1": 0.9}}
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for room in ("bears", "stages"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def changed(copy: Path, path: str, old: str, new: str) -> set[str]:
    """Edit a file of the copy and return the stages whose digests changed."""
    before = code_digests(copy, READ)
    file = copy / path
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    return {stage for stage, digest in code_digests(copy, READ).items() if digest != before[stage]}


def test_comments_docstrings_and_formatting_change_no_digest(copy: Path) -> None:
    path = "bears/errors.py"
    text = (copy / path).read_text(encoding="utf-8")
    edited = "# A comment.\n\n" + text.replace('"""\n', ' More words."""\n', 1)
    assert edited.count("More words") == 1
    assert changed(copy, path, text, edited) == set()


def test_an_edit_changes_the_stages_that_can_run_it(copy: Path) -> None:
    bm25 = "bears/retrieval/sparse/bm25.py"
    assert "index" in changed(copy, bm25, "import ", "import os\nimport ")
    evaluate = "bears/evaluation/evaluate.py"
    assert changed(copy, evaluate, "\ndef ", "\nX = 1\n\n\ndef ") == {"evaluate"}


def test_only_what_the_configuration_names_counts(copy: Path) -> None:
    new = copy / "bears/retrieval/sparse/new.py"
    before = code_digests(copy, READ)
    new.write_text("class New: ...\n", encoding="utf-8")
    assert code_digests(copy, READ) == before
    named = READ | {"index": {"parts": [{"_target_": "bears.retrieval.sparse.new.New"}]}}
    first = code_digests(copy, named)
    new.write_text("class New:\n    k = 1\n", encoding="utf-8")
    second = code_digests(copy, named)
    assert {stage for stage in first if first[stage] != second[stage]} == {"index"}


@pytest.mark.parametrize("stage", STAGES)
def test_the_closure_is_what_grimp_finds(stage: str) -> None:
    graph = grimp.build_graph("bears", "stages", cache_dir=None, exclude_type_checking_imports=True)
    root = f"stages.{stage}"
    upstream = {root} | graph.find_upstream_modules(root)
    packages = {".".join(m.split(".")[:n]) for m in upstream for n in range(1, m.count(".") + 2)}
    # What a package around a module imports runs as well.
    upstream |= packages.union(*(graph.find_upstream_modules(each) for each in packages))
    assert set(Modules(ROOT).closure([root])) >= upstream
    assert set(Modules(ROOT).closure([root])) <= upstream | {
        ".".join(m.split(".")[:n]) for m in upstream for n in range(1, m.count(".") + 2)
    }


def test_a_digest_is_the_same_under_every_version_of_python(tmp_path: Path) -> None:
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages/one.py").write_text(
        "def f(x: int, *, y=f'{1!r}') -> None:\n    return x\n", encoding="utf-8"
    )
    # Computed under Python 3.11, 3.12 and 3.13.
    assert code_digests(tmp_path, {"one": {}}) == {"one": "ecf66f74956ea47d"}
