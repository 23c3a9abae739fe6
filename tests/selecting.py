"""Select words, and compare what the pipeline makes of them with digests that were kept.

`digests.json` was written by the code before the model of one record for each question. A change
of one of its values is a change of what users have measured, and needs a reason.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from tests.workspace import ROOT, Workspace

SELECTION = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
TRANSLATED = {"bears", "bears-v1", "bears-published"}
"""Benchmarks whose published translations are in the real data."""
DIGESTS = json.loads((Path(__file__).parent / "stages" / "digests.json").read_text("utf-8"))
RECORDS = ("queries_raw.json", "corpus_raw.json", "queries.json", "corpus.json")


def select(workspace: Workspace, words: list[str]) -> None:
    """Write params.yaml as ``dvc exp run -S`` would."""
    selection: dict[str, Any] = {**SELECTION, "overrides": []}
    for word in words:
        name, value = word.split("=", 1)
        if name in SELECTION:
            selection[name] = value
        else:
            selection["overrides"].append(word)
    path = workspace.root / "params.yaml"
    path.write_text(yaml.safe_dump(selection, allow_unicode=True), encoding="utf-8")


def import_translations(workspace: Workspace, benchmark: str, shared_data: Path) -> None:
    """Import the published translations of the selected benchmark, if it has any."""
    if benchmark in TRANSLATED:
        workspace.python("stages.config")
        published = str(shared_data / "bears-published")
        workspace.python("bears", "replies", "import", benchmark, published)


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


def assert_as_it_was(case: str, root: Path, benchmark: str) -> None:
    """Compare what the pipeline made in a folder with the digests of a case."""
    known = DIGESTS[case]
    groups = known["values"]
    stage = "judge" if "answers" in groups else "evaluate" if groups else "sample"
    found = found_in(root, benchmark, stage)
    assert found["files"] == known["files"]
    assert found["values"].keys() == groups.keys()
    for group, values in found["values"].items():
        # Measures that came later are not held.
        assert values.keys() >= groups[group].keys()
        for name, expected in groups[group].items():
            value = values[name]
            near = abs(value - expected) < 1e-9 if isinstance(value, float) else value == expected
            assert near, f"{group}, {name}: {value}, was {expected}"
