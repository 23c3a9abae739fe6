"""What must not change: the records, rankings and values of the benchmarks, and what is replayed.

`digests.json` was written by the code before the model of one record for each question. A change
of one of its values is a change of what users have measured, and needs a reason.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.stages.test_words import TRANSLATED, select
from tests.workspace import Workspace

pytestmark = pytest.mark.slow
GOLDEN = Path(__file__).with_name("digests.json")
BEARS = ["benchmark=bears", "mirror=DATA/raw"]
DATA = "mirror=DATA"
SPLITS = ["characters", "tokens", "sentences", "passages"]
CASES: dict[str, tuple[str, list[str]]] = {
    "mini": ("judge", ["generator=sentence", "judge=contains"]),
    "mini, wordllama": ("evaluate", ["retriever=wordllama"]),
    "mini, hybrid": ("evaluate", ["retriever=hybrid"]),
    "mini, sentences": ("judge", ["chunking=sentences", "generator=sentence", "judge=contains"]),
    "bears": ("judge", [*BEARS, "generator=sentence", "judge=contains"]),
    **{f"bears, seed {n}": ("sample", [*BEARS, f"sample.seed={n}"]) for n in (1, 7, 2026)},
    "bears-v1": ("evaluate", ["benchmark=bears-v1", "mirror=DATA/raw"]),
    "qasper": ("judge", ["benchmark=qasper", DATA, "generator=sentence", "judge=contains"]),
    "pandachat-sl": ("evaluate", ["benchmark=pandachat-sl", DATA]),
    "science-ko": ("evaluate", ["benchmark=science-ko", DATA]),
    "science-ko-eval": ("evaluate", ["benchmark=science-ko-eval", DATA]),
    "scifact": ("evaluate", ["benchmark=scifact", DATA]),
    "beir": ("evaluate", ["benchmark=beir", "sources.beir.path=DATA/scifact"]),
    **{
        f"chunking, {word}": ("evaluate", ["benchmark=chunking", DATA, f"chunking={word}"])
        for word in SPLITS
    },
}
"""A name to the last stage that runs, and the choices."""
RECORDS = ("queries_raw.json", "corpus_raw.json", "queries.json", "corpus.json")


def found_in(root: Path, benchmark: str, stage: str) -> dict[str, Any]:
    """Return the digests of the records and rankings of a benchmark, and the values of its metrics.

    Ties of vectors may fall otherwise on another processor: rankings of models are held by values.
    """
    folder = root / "data" / benchmark
    files = [folder / "sampled" / name for name in RECORDS[:2]]
    if stage != "sample":
        files += [folder / "translated" / name for name in RECORDS[2:]]
        files += [folder / "runs" / f"bm25{part}.trec" for part in ("", ".within")]
    metrics = {"sample": [], "evaluate": ["retrieval"], "judge": ["retrieval", "answers"]}[stage]
    return {
        "files": {
            str(file.relative_to(folder)): sha256(file.read_bytes()).hexdigest()
            for file in files
            if file.is_file() and file.stat().st_size > 1
        },
        "values": {
            name: json.loads((root / "metrics" / f"{name}.json").read_text("utf-8"))["all"]
            for name in metrics
        },
    }


def measured(workspace: Workspace, case: str, shared_data: Path) -> dict[str, Any]:
    stage, words = CASES[case]
    words = [word.replace("DATA", str(shared_data)) for word in words]
    select(workspace, words)
    benchmark = dict(word.split("=", 1) for word in words).get("benchmark", "mini")
    if benchmark in TRANSLATED and stage != "sample":
        workspace.python("stages.config")
        published = str(shared_data / "bears-published")
        workspace.python("bears", "replies", "import", benchmark, published)
    workspace.dvc("repro", stage)
    return found_in(workspace.root, benchmark, stage)


@pytest.mark.parametrize("case", CASES)
def test_records_rankings_and_values_are_what_they_were(
    case: str, workspace: Workspace, shared_data: Path
) -> None:
    known = json.loads(GOLDEN.read_text("utf-8"))[case]
    found = measured(workspace, case, shared_data)
    assert found["files"] == known["files"]
    assert found["values"].keys() == known["values"].keys()
    for group, values in found["values"].items():
        assert values.keys() == known["values"][group].keys()
        for name, value in values.items():
            expected = known["values"][group][name]
            near = abs(value - expected) < 1e-9 if isinstance(value, float) else value == expected
            assert near, f"{group}, {name}: {value}, was {expected}"
