"""Fetching from a hub, with every fault that a network has. The hub is one on loopback.

The hub's client reads its environment when it is imported, so each fetch is a process of its own,
with a cache of its own.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from bears.config.shape import Source
from tests.sources.files import Rows, table
from tests.sources.hub_server import Hub, ask, serve

REVISION = "1908d6afbbead072334abe2965f91bd2709910ab"
TRAIN, VALIDATION = "distractor/train-0.parquet", "distractor/validation-0.parquet"

ROWS: Rows = [
    {
        "id": f"q{number}",
        "question": "Which came first?",
        "answer": "the hen",
        "supporting_facts": {"title": ["Hen"], "sent_id": [0]},
        "context": {
            "title": ["Hen", "Egg"],
            "sentences": [["A hen.", " It lays."], [f"Egg {sha256(bytes(number)).hexdigest()}"]],
        },
    }
    for number in range(300)
]

# A stage in small. The client waits between attempts; nothing is won by waiting here.
FETCH = """
import json, sys, time
from pathlib import Path
from bears.errors import BearsError
from bears.sources.passage_rows import multi_hop
from bears.sources.convert import convert
from bears.config.shape import Source
time.sleep = lambda seconds: None
try:
    source = Source(**json.loads(sys.argv[1]))
    out = Path(sys.argv[2])
    kept = out.parents[1] / "kept"
    print(json.dumps(convert(source, multi_hop, None, Path("."), out, kept)))
except BearsError as error:
    sys.exit(str(error))
"""

LOAD = """
import json, sys
import datasets
rows = datasets.load_dataset(
    sys.argv[1], revision=sys.argv[2], data_files={"validation": sys.argv[3]}, split="validation"
)
print(json.dumps(rows.to_list()))
"""


@pytest.fixture(scope="module")
def content() -> bytes:
    return table(ROWS)


@pytest.fixture
def hub(content: bytes) -> Iterator[Hub]:
    files = {"README.md": b"# HotpotQA\n", TRAIN: b"not for us", VALIDATION: content}
    with serve(Hub("hotpotqa/hotpot_qa", REVISION, files)) as server:
        yield server


@pytest.fixture
def source(content: bytes) -> Source:
    return Source(
        name="hotpotqa",
        reader="bears.sources.passage_rows.multi_hop",
        language="en",
        licence="CC-BY-SA-4.0",
        hub="hotpotqa/hotpot_qa",
        revision=REVISION,
        files=("distractor/validation-*.parquet",),
        sha256={"validation-0.parquet": sha256(content).hexdigest()},
        rows=len(ROWS),
    )


@dataclasses.dataclass
class Machine:
    """Where fetches run: what stays between them is the cache and the written file."""

    folder: Path

    @property
    def out(self) -> Path:
        return self.folder / "raw" / "hotpotqa.questions.jsonl"

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    def run(self, hub: Hub, source: Source, **env: str) -> tuple[int, str, str]:
        at = str(self.out).removesuffix(".questions.jsonl")
        given = json.dumps(dataclasses.asdict(source))
        done = ask(hub, self.cache, "-c", FETCH, given, at, **env)
        return done.returncode, done.stdout, done.stderr

    def fetch(self, hub: Hub, source: Source, **env: str) -> dict[str, Any]:
        """Return what a fetch that succeeds says of its files."""
        code, told, error = self.run(hub, source, **env)
        assert code == 0, error
        provenance: dict[str, Any] = json.loads(told)
        return provenance

    def fail(self, hub: Hub, source: Source, **env: str) -> str:
        """Return the message of a fetch that fails as it should, leaving nothing half done."""
        code, _, message = self.run(hub, source, **env)
        assert code == 1, message
        assert "Traceback" not in message
        assert not self.out.parent.exists() or not any(self.out.parent.iterdir())
        assert not list(self.cache.rglob("*.incomplete"))
        return message


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.slow
def test_a_fetch_takes_the_asked_files_and_a_second_one_takes_nothing(
    hub: Hub, source: Source, machine: Machine, content: bytes
) -> None:
    message = machine.fail(hub, source, HF_HUB_OFFLINE="1")
    assert "-S mirror=FOLDER" in message
    first = machine.fetch(hub, source)

    assert first["hub"] == "hotpotqa/hotpot_qa"
    assert first["revision"] == REVISION
    digest = sha256(content).hexdigest()
    known = {"name": "validation-0.parquet", "sha256": digest, "checksum": "pinned"}
    assert first["files"] == [{**known, "bytes": len(content), "rows": 300}]
    assert hub.downloads == [VALIDATION]
    written = machine.out.read_bytes()

    hub.requests.clear()
    assert machine.fetch(hub, source, HF_HUB_OFFLINE="1") == first
    assert machine.out.read_bytes() == written
    assert not [line for line in hub.requests if "hotpot" in line]


@pytest.mark.slow
def test_a_hub_that_never_recovers_ends_the_run_and_the_next_one_goes_on(
    hub: Hub, source: Source, machine: Machine
) -> None:
    hub.files[TRAIN] = table([{**row, "id": f"t{row['id']}"} for row in ROWS])
    source = dataclasses.replace(source, files=(VALIDATION, TRAIN), sha256={}, rows=600)
    hub.broken = True

    message = machine.fail(hub, source)
    assert "hotpotqa/hotpot_qa at 1908d6a" in message
    assert "the next run" in message
    assert "-S mirror=FOLDER" in message

    hub.broken = False
    assert [file["rows"] for file in machine.fetch(hub, source)["files"]] == [300, 300]


def test_wrong_bytes_are_named_and_removed(
    hub: Hub, source: Source, machine: Machine, content: bytes
) -> None:
    hub.damaged = {VALIDATION}

    message = machine.fail(hub, source)
    assert f"has sha256 {sha256(bytes(len(content))).hexdigest()}" in message
    assert f"expected {sha256(content).hexdigest()}" in message
    assert "removed" in message
    # Nor is what the name links to.
    received = [path for path in machine.cache.rglob("*") if path.is_file()]
    assert not [path for path in received if path.read_bytes() == bytes(len(content))]


@pytest.mark.slow
def test_a_pattern_without_a_match_lists_what_is_there(
    hub: Hub, source: Source, machine: Machine
) -> None:
    message = machine.fail(hub, dataclasses.replace(source, files=("data/*.parquet",)))
    assert "no file matches data/*.parquet" in message
    assert f"there: README.md, {TRAIN}, {VALIDATION}" in message
    assert hub.downloads == []


@pytest.mark.slow
def test_datasets_reads_the_same_rows(hub: Hub, source: Source, machine: Machine) -> None:
    done = ask(hub, machine.cache, "-c", LOAD, source.hub, source.revision, source.files[0])
    assert done.returncode == 0, done.stderr
    theirs = json.loads(done.stdout)
    assert theirs == ROWS
    machine.fetch(hub, source)
    ours = [json.loads(line) for line in machine.out.read_bytes().splitlines()]
    asked = [row["question"] for row in ours]
    assert [(row["question_id"], row["question"], row["gold_answer"]) for row in asked] == [
        (row["id"], row["question"], row["answer"]) for row in theirs
    ]
