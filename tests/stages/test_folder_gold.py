"""A folder of long files through the pipeline: gold that no cut, rename or re-wrapping changes."""

from __future__ import annotations

import json
import random
import textwrap
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from tests.workspace import Workspace

WORDS = [
    *("valve", "pump", "sensor", "filter", "motor", "switch", "cable"),
    *("lamp", "gauge", "battery", "roof", "yard", "lift", "hall"),
]


def write(folder: Path, width: int, prefix: str) -> None:
    """Six files of thirty paragraphs, wrapped at a width, and a question about each."""
    chance = random.Random(4)
    rows = ["question,answer,document,quotation"]
    for number in range(6):
        paragraphs = []
        for part in range(30):
            code = f"{chance.choice(WORDS)}{number}x{part}"
            others = " ".join(chance.choices(WORDS, k=25))
            paragraphs.append(f"The {code} is kept in the {chance.choice(WORDS)} room. {others}.")
        text = "\n\n".join(textwrap.fill(paragraph, width) for paragraph in paragraphs)
        folder.mkdir(exist_ok=True)
        (folder / f"{prefix}{number}.md").write_text(f"# Guide {number}\n\n{text}\n")
        quotation = paragraphs[7].split(".")[0] + "."
        asked = quotation.replace("The ", "Where is the ").split(" is kept")[0]
        rows.append(f'{asked} kept?,,guide{number}.md,"{quotation}"')
    (folder / "questions.csv").write_text("\n".join(rows) + "\n")


@pytest.mark.slow
def test_a_rename_another_wrapping_and_another_cut_leave_the_gold_as_it_is(
    workspace: Workspace, tmp_path: Path
) -> None:
    folder = tmp_path / "guides"
    settings = [f"sources.own.path={folder}", "sources.own.language=en"]

    def run(stage: str = "evaluate", code: int = 0, **chosen: str) -> str:
        selection = yaml.safe_load(workspace.text("params.yaml"))
        selection |= {"benchmark": "own", "overrides": settings, **chosen}
        (workspace.root / "params.yaml").write_text(yaml.safe_dump(selection), encoding="utf-8")
        return workspace.dvc("repro", stage, code=code)

    def measured() -> dict[str, float]:
        found: dict[str, float] = json.loads(workspace.text("metrics/retrieval.json"))["all"]
        return found

    write(folder, 60, "guide")
    run("generate", generator="sentence")
    run()
    first = measured()
    assert (first["recall@1"], first["span_success@5"], first["n"]) == (1, 1, 6)
    ids = {line.split()[2] for line in workspace.text("data/own/runs/bm25.trec").splitlines()}
    assert ids == {f"guide{number}.md" for number in range(6)}
    chunks = pq.read_table(workspace.root / "data/own/runs/bm25.chunks.parquet").to_pylist()
    assert chunks
    assert all(row["start"] < row["end"] for row in chunks)
    [answer, *_] = workspace.text("data/own/answers/bm25.sentence.jsonl").splitlines()
    assert all(each.keys() == {"doc_id", "start", "end"} for each in json.loads(answer)["shown"])

    # The files are wrapped at another width and have other names.
    for path in folder.iterdir():
        path.unlink()
    write(folder, 90, "manual")
    workspace.dvc("repro", "--force", "--single-item", "download")
    run()
    assert measured() == first

    run(chunking="sentences")
    assert measured()["n"] == 6
    assert measured()["recall@1"] == 1

    # A quoted sentence is gone.
    page = folder / "manual3.md"
    lines = page.read_text().split("\n\n")
    page.write_text("\n\n".join([*lines[:8], *lines[9:]]))
    workspace.dvc("repro", "--force", "--single-item", "download")
    printed = run(code=255)
    assert "lost_quotation" in printed
    findings = json.loads(workspace.text("metrics/verification.json"))
    assert (findings["errors"], findings["findings"]["lost_quotation"]) == (1, 1)
    accept = '+benchmark.accept=[{check: lost_quotation, record_id: "*", reason: gone}]'
    settings.append(accept.removeprefix("+"))
    run()
    assert measured()["n"] == 6
    undefined = json.loads(workspace.text("metrics/retrieval.json"))["undefined"]
    assert undefined["span_success@5"] == 1
