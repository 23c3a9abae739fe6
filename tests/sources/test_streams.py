"""Sets whose files the library `datasets` lists, from a hub on loopback; a process each.

The libraries read HF_ENDPOINT when they are imported, and that takes seconds, so all are slow.
"""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.sources.files import lines, table
from tests.sources.hub_server import Hub, ask, serve
from tests.sources.test_any_set import CORPUS, MTEB_QRELS, QRELS, QUERIES, XQUAD

pytestmark = pytest.mark.slow


def card(**configs: dict[str, str]) -> bytes:
    listed = [
        {"config_name": name, "data_files": [{"split": s, "path": p} for s, p in paths.items()]}
        for name, paths in configs.items()
    ]
    told = {"license": "cc-by-sa-4.0", "language": ["en"], "configs": listed}
    return f"---\n{yaml.safe_dump(told)}---\n# A set\n".encode()


NAMED = [{**row, "_id": f"00{row['_id']}"} for row in CORPUS]
FILES: dict[str, dict[str, bytes]] = {
    # Ids that begin with zeros, of which a table of numbers would lose them.
    "BeIR/fiqa": {
        "README.md": card(corpus={"corpus": "c.jsonl.gz"}, queries={"queries": "q.jsonl.gz"}),
        "c.jsonl.gz": gzip.compress(lines(NAMED)),
        "q.jsonl.gz": gzip.compress(
            lines([{**row, "_id": f"0{n}"} for n, row in enumerate(QUERIES)])
        ),
    },
    "BeIR/fiqa-qrels": {
        "test.tsv": b"query-id\tcorpus-id\tscore\n00\t001\t2\n00\t002\t1\n00\t003\t0\n",
        "dev.tsv": b"query-id\tcorpus-id\tscore\n01\t002\t1\n",
    },
    "mteb/fiqa": {
        "README.md": card(
            default={"test": "r.jsonl"},
            corpus={"corpus": "c.jsonl"},
            queries={"queries": "q.jsonl"},
        ),
        "c.jsonl": lines([{**row, "_id": str(row["_id"])} for row in CORPUS]),
        "q.jsonl": lines(QUERIES),
        "r.jsonl": lines(MTEB_QRELS),
    },
    "me/bare": {
        "corpus.jsonl": lines(CORPUS),
        "queries.jsonl": lines(QUERIES),
        "qrels/test.tsv": QRELS,
    },
    "google/xquad": {
        "README.md": card(
            **{
                "xquad.de": {"validation": "de/0.parquet"},
                "xquad.en": {"validation": "en/0.parquet"},
            }
        ),
        "de/0.parquet": table(XQUAD),
        "en/0.parquet": table(XQUAD),
    },
    "me/script": {"script.py": b"import datasets"},
}


class Machine:
    """A checkout's stage and commands, against a hub."""

    def __init__(self, folder: Path, hub: Hub) -> None:
        self.folder, self.hub = folder, hub

    def run(self, *words: str, code: int = 0) -> str:
        done = ask(self.hub, self.folder / "cache", "-m", *words, DVC_ROOT=str(self.folder))
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout if code == 0 else done.stderr

    def download(self, *words: str, code: int = 0) -> tuple[str, list[Any], list[Any]]:
        """What the stage printed, the rows and the provenance."""
        out = self.folder / "out"
        paths = ["--rows", str(out), "--provenance", str(out / "sources.json")]
        told = self.run("stages.download", *words, *paths, code=code)
        if code:
            return told, [], []
        files = [*out.glob("*.documents.jsonl"), *out.glob("*.questions.jsonl")]
        return (
            told,
            [json.loads(line) for path in files for line in path.read_text().splitlines()],
            json.loads((out / "sources.json").read_text()),
        )


@pytest.fixture
def machine(tmp_path: Path) -> Any:
    hubs = [Hub(name, f"{n}" * 40, files) for n, (name, files) in enumerate(FILES.items())]
    hubs[0].beside = tuple(hubs[1:])
    with serve(hubs[0]) as hub:
        yield Machine(tmp_path, hub)


def judged(rows: list[Any]) -> list[tuple[str, str, int]]:
    found = []
    for row in rows:
        if asked := row.get("question"):
            grades = asked["gold_grades"] or [1] * len(asked["gold_doc_ids"])
            gold = zip(asked["gold_doc_ids"], grades, strict=True)
            found += [(asked["question_id"], doc_id, grade) for doc_id, grade in gold]
    return found


def test_beirs_and_mtebs_sets_are_benchmarks_without_a_file(machine: Machine) -> None:
    told, rows, [source] = machine.download("benchmark=beir", "sources.beir.hub=BeIR/fiqa")
    assert judged(rows) == [("00", "001", 2), ("00", "002", 1)]
    assert next(row["content"] for row in rows if "content" in row) == "Tea It is kept in Ur."
    assert "conf pins no revision" in told
    assert f"BeIR/fiqa {'0' * 40}, BeIR/fiqa-qrels {'1' * 40}" in told
    assert [file["name"] for file in source["files"]] == ["c.jsonl.gz", "q.jsonl.gz", "test.tsv"]

    _, rows, _ = machine.download(
        "benchmark=beir", "sources.beir.hub=BeIR/fiqa", "sources.beir.split=dev"
    )
    assert judged(rows) == [("01", "002", 1)]
    for name in ("mteb/fiqa", "me/bare"):
        _, rows, _ = machine.download("benchmark=beir", f"sources.beir.hub={name}")
        assert judged(rows) == [("q1", "1", 2), ("q1", "2", 1)]
    told, *_ = machine.download(
        "benchmark=beir", "sources.beir.hub=BeIR/fiqa", "sources.beir.split=no", code=1
    )
    assert "its split is 'no'; BeIR/fiqa-qrels has" in told


def test_what_was_seen_first_stays_what_it_is(machine: Machine) -> None:
    words = ("benchmark=beir", "sources.beir.hub=mteb/fiqa")
    _, _, before = machine.download(*words)
    changed = next(hub for hub in machine.hub.beside if hub.repository == "mteb/fiqa")
    changed.revision = "a" * 40
    told, *_ = machine.download(*words, code=1)
    assert "the hub's dataset mteb/fiqa at 2222" in told
    changed.revision = "2" * 40
    shutil.rmtree(machine.folder / "cache")
    changed.files = {**changed.files, "q.jsonl": lines([{"_id": "q1", "text": "coffee?"}])}
    told, *_ = machine.download(*words, code=1)
    assert f"mteb/fiqa@{'2' * 40}/q.jsonl has sha256" in told
    assert before[0]["files"][1]["sha256"] in told
    assert {file["checksum"] for file in before[0]["files"]} == {"first fetch"}


def test_a_set_is_looked_at_then_pinned_then_read(machine: Machine, tmp_path: Path) -> None:
    told = machine.run("bears", "source", "inspect", "hub:google/xquad", code=1)
    assert "google/xquad has xquad.de, xquad.en. Choose: config=NAME" in told
    text = machine.run("bears", "source", "inspect", "hub:google/xquad", "config=xquad.de")
    assert yaml.safe_load(text) == {
        **{"name": "xquad", "language": "de", "licence": "CC-BY-SA-4.0", "shape": "squad"},
        **{"hub": "google/xquad", "revision": "4" * 40, "config": "xquad.de"},
    }
    assert "#   question: Wo?" in text
    file = tmp_path / "xquad.yaml"
    file.write_text(text.replace("revision", "# a remark\nrevision"))
    machine.run("bears", "source", "pin", str(file))
    pinned = yaml.safe_load(file.read_text())
    assert (pinned["revision"], pinned["rows"], [*pinned["sha256"]]) == (
        "4" * 40,
        2,
        ["0.parquet"],
    )
    assert "# a remark" in file.read_text()
    once = file.read_text()
    machine.run("bears", "source", "pin", str(file))
    assert file.read_text() == once
    file.write_text(once.replace(pinned["sha256"]["0.parquet"], "0" * 64))
    told = machine.run("bears", "source", "inspect", str(file), code=1)
    assert "xquad.yaml, line 1: not valid JSON" in told


def test_a_script_is_not_run(machine: Machine) -> None:
    words = ["benchmark=any", "sources.any.language=de", "sources.any.hub=me/script"]
    told, *_ = machine.download(*words, code=1)
    assert "me/script has a loading script, which is not run" in told
