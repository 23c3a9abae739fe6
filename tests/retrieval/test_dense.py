"""A dense index: made shard by shard, gone on with after a kill, never of stale vectors."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bears.errors import StoreError, VectorError
from bears.retrieval.cut import Cut, cuts_below, messages
from bears.retrieval.dense.dense import Dense
from bears.retrieval.retriever import Query, Stopwatch
from bears.retrieval.stores.memory import Memory
from bears.retrieval.vectors import Kind, Shard
from benchmarks.parquet_corpus import stream_parquet
from tests.retrieving import Letters, Recorded, ask, documents, indexed, opened
from tests.workspace import ROOT

TEXTS = ["ape", "bear", "cat", "dog", "elk", "fox", "gnu"]


def index(
    folder: Path, encoder: Letters, texts: Sequence[str] = TEXTS, size: int = 2
) -> list[Shard]:
    """Return the shards, after a look at whether they hold every text with its vector."""
    store = Recorded()
    indexed(Dense(encoder, store, shard_size=size), documents(texts), folder)
    assert [text for shard in store.shards for text in shard.texts] == texts
    vectors = np.concatenate([shard.vectors for shard in store.shards])
    assert vectors.tobytes() == Letters().documents(texts).tobytes()
    return store.shards


def interrupted(folder: Path, encoder: Letters, size: int = 2) -> None:
    with pytest.raises(KeyboardInterrupt):
        index(folder, encoder, size=size)


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.vectors"))


@pytest.mark.parametrize(("size", "sizes"), [(1, [1] * 7), (3, [3, 3, 1]), (50, [7])])
def test_every_piece_is_stored_in_order_whatever_the_shard_size(
    tmp_path: Path, size: int, sizes: list[int]
) -> None:
    shards = index(tmp_path, Letters(), size=size)
    assert [shard.number for shard in shards] == list(range(len(sizes)))
    assert [len(shard.texts) for shard in shards] == sizes
    assert [i for shard in shards for i in shard.doc_ids] == [f"d{n}" for n in range(7)]
    assert [g for shard in shards for g in shard.groups] == ["g0", "g1"] * 3 + ["g0"]


def test_a_run_that_was_stopped_goes_on_with_the_shard_it_was_at(tmp_path: Path) -> None:
    first, second = Letters(stop_before="elk"), Letters()
    interrupted(tmp_path, first)
    assert first.asked == ["ape", "bear", "cat", "dog"]
    shards = index(tmp_path, second)
    assert second.asked == ["elk", "fox", "gnu"]
    assert [s.texts for s in shards] == [s.texts for s in index(tmp_path / "fresh", Letters())]


def test_only_texts_whose_vectors_are_not_kept_are_encoded_wherever_they_stand(
    tmp_path: Path,
) -> None:
    index(tmp_path, Letters())
    again, encoder = Letters(), Letters()
    index(tmp_path, again)
    assert again.asked == []
    index(tmp_path, encoder, ["yak", "elk", "ape", "doe", "elk", "cat"], size=4)
    assert encoder.asked == ["yak", "doe"]


@dataclass
class InPairs(Letters):
    """Reads two texts together, the last ones first."""

    def blocks(self, texts: Sequence[str]) -> Iterator[list[int]]:
        for first in range(len(texts) - 1, -1, -2):
            yield list(range(max(first - 1, 0), first + 1))


def test_a_kill_within_a_shard_costs_one_block_of_the_encoder(tmp_path: Path) -> None:
    first, second = InPairs(stop_before="cat"), InPairs()
    interrupted(tmp_path, first, size=50)
    assert first.asked == ["fox", "gnu", "dog", "elk"]
    index(tmp_path, second, size=50)
    assert second.asked == ["bear", "cat", "ape"]


def test_another_model_never_meets_the_vectors_of_the_former(tmp_path: Path) -> None:
    interrupted(tmp_path, Letters(1, stop_before="elk"))
    encoder = Letters(2)
    index(tmp_path, encoder)
    assert encoder.asked == TEXTS
    # The former's are still there for it.
    assert len(files(tmp_path)) == 2
    former = Letters(1)
    index(tmp_path, former)
    assert former.asked == TEXTS[4:]


def test_a_row_that_was_cut_short_or_damaged_is_made_again(tmp_path: Path) -> None:
    interrupted(tmp_path, Letters(stop_before="elk"))
    (file,) = files(tmp_path)
    content = bytearray(file.read_bytes())
    size = len(content) // 4
    content[size + size // 2] ^= 1  # In the vector of the second text.
    file.write_bytes(content[:-8])
    encoder = Letters()
    index(tmp_path, encoder)
    assert encoder.asked == ["bear", "dog", "elk", "fox", "gnu"]


def test_vectors_that_no_run_has_used_for_a_month_are_removed(tmp_path: Path) -> None:
    interrupted(tmp_path, Letters(2, stop_before="elk"))
    index(tmp_path, Letters(3))
    month_ago = time.time() - 31 * 24 * 3600
    for file in files(tmp_path):
        os.utime(file, (month_ago, month_ago))
    encoder = Letters(3)
    index(tmp_path, encoder)
    assert encoder.asked == []
    assert len(files(tmp_path)) == 1


@dataclass
class Forgetful(Letters):
    """Reads three characters of a text."""

    def unread(self, kind: Kind, texts: Sequence[str]) -> tuple[int, list[int]]:  # noqa: ARG002
        return 3, [max(0, len(text) - 3) for text in texts]


@pytest.mark.parametrize("stopped", [False, True])
def test_texts_that_were_cut_are_counted_once_also_by_a_run_that_goes_on(
    tmp_path: Path, stopped: bool
) -> None:
    texts = ["four", "two", "sixsix", "elk", "elephant"]
    if stopped:
        stops = Dense(Forgetful(stop_before="elk"), Recorded(), shard_size=2)
        with pytest.raises(KeyboardInterrupt):
            indexed(stops, documents(texts), tmp_path)
    encoder = Forgetful()
    indexed(Dense(encoder, Recorded(), shard_size=2), documents(texts), tmp_path)
    assert len(encoder.asked) == (3 if stopped else 5)
    (cut,) = cuts_below(tmp_path)
    assert (cut.tokens, cut.texts, cut.cut, cut.characters, cut.unread) == (3, 5, 3, 18, 9)


def test_a_cut_is_told_and_is_a_warning_where_it_is_of_many() -> None:
    few = Cut("indexed texts", 256, 2000, 200, 1_000_000, 410_000)
    many = replace(few, cut=201)
    said = "of 2,000 indexed texts were cut at 256 tokens; 41 % of their text was not read"
    assert messages([few]) == [f"200 {said}"]
    assert messages([many]) == [f"warning: 201 {said}"]
    assert messages([replace(few, cut=0)]) == []


SLOW = """
import sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from bears.retrieval.dense.dense import Dense
from tests.retrieving import Letters, Recorded, ask, documents, ids, indexed, opened
class Slow(Letters):
    def documents(self, texts):
        print("encoding", len(texts), flush=True)
        time.sleep({seconds})
        return super().documents(texts)
folder = Path({folder!r})
try:
    texts = (f"x{{n}}" for n in range({size} * 6))
    indexed(Dense(Slow(), Recorded(), shard_size={size}), documents(texts), folder)
except Exception as error:
    print(f"{{type(error).__name__}}: {{error}}")
    sys.exit(3)
"""
ROW = 32 + 26 * 4 + 3 * 4
"""Bytes of a kept vector of letters: key, vector, what was not read, and checksum."""


def slow(folder: Path, seconds: float, size: int = 1) -> list[str]:
    code = SLOW.format(root=str(ROOT), seconds=seconds, folder=str(folder), size=size)
    return [sys.executable, "-c", code]


def rows(folder: Path) -> int:
    return sum(file.stat().st_size // ROW for file in files(folder))


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_process_that_is_ended_from_outside_leaves_its_vectors(
    tmp_path: Path, sent: signal.Signals
) -> None:
    with subprocess.Popen(
        slow(tmp_path, 0.3), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        for _ in range(600):
            if rows(tmp_path) >= 2:
                break
            time.sleep(0.05)
        process.send_signal(sent)
    finished = rows(tmp_path)
    assert 2 <= finished < 6
    done = subprocess.run(slow(tmp_path, 0), capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.count("encoding") == 6 - finished


@pytest.mark.slow
def test_a_full_disk_says_so_and_what_is_encoded_is_kept(tmp_path: Path) -> None:
    """On a file system of a megabyte, which only a user namespace of one's own may mount."""
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare here")
    mount = f"mount -t tmpfs -o size=1m none {tmp_path} || exit 77\n"
    more = f"mount -o remount,size=8m {tmp_path} && "
    script = f'{mount}cd {tmp_path}\n"$@"; status=$?\n{more}"$@"; echo $status $?'
    command = slow(tmp_path, 0, size=1500)
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, "sh", *command],
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"no file system can be mounted here: {done.stderr}")
    said = done.stdout.splitlines()
    message, statuses = (line for line in said if not line.startswith("encoding"))
    assert message == "OSError: [Errno 28] No space left on device"
    assert statuses == "3 0"
    # A shard takes 1,500 rows: four of them fit, and a part of the fifth.
    encoded = [int(line.split()[1]) for line in said if line.startswith("encoding")]
    kept = 2**20 // ROW
    assert sum(encoded[5:]) == 9000 - kept


def parquet(file: Path, **columns: Sequence[Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(dict(columns)), file)


def test_a_corpus_can_be_a_folder_of_parquet_files(tmp_path: Path) -> None:
    parquet(tmp_path / "c" / "1.parquet", doc_id=["b"], text=["two"], other=[1], group=["g"])
    parquet(tmp_path / "c" / "0.parquet", content=["one", "漢"], doc_id=["a", "c"])
    found = list(stream_parquet(tmp_path / "c"))
    texts = [(d.doc_id, d.content, d.group) for d in found]
    assert texts == [("a", "one", ""), ("c", "漢", ""), ("b", "two", "g")]
    assert found[0] == replace(found[0], original_source="c", original_id="a", is_gold=False)


class Wrong(Letters):
    """Gives one wrong vector for the text ``cat``, or wherever it comes first."""

    def __init__(self, value: float, of: str = "cat") -> None:
        super().__init__()
        self.value, self.of = value, of

    def documents(self, texts: Sequence[str]) -> Any:
        vectors = super().documents(texts)
        vectors[[text == self.of for text in texts]] = self.value
        return vectors

    questions = documents


@pytest.mark.parametrize(
    ("value", "said"), [(0.0, "is all zeros"), (np.nan, "holds NaN"), (np.inf, "holds NaN")]
)
def test_a_vector_that_says_nothing_is_told_by_its_document_and_not_kept(
    tmp_path: Path, value: float, said: str
) -> None:
    with pytest.raises(VectorError, match=f"vector of the document d2 {said}"):
        index(tmp_path, Wrong(value))
    # The first shard, d0 and d1, is kept; the same model in order goes on from there.
    assert rows(tmp_path) == 2
    index(tmp_path, Letters())


def test_without_a_document_there_is_nothing_to_index(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="the corpus has no document"):
        indexed(Dense(Letters(), Memory()), [], tmp_path)


def test_a_text_of_nothing_may_have_a_vector_of_zeros(tmp_path: Path) -> None:
    assert index(tmp_path, Wrong(0.0, " \u200b…"), [*TEXTS, " \u200b…"])
    with pytest.raises(VectorError, match="holds NaN"):
        index(tmp_path / "new", Wrong(np.nan, " \u200b…"), [*TEXTS, " \u200b…"])


def test_a_question_whose_vector_says_nothing_is_told(tmp_path: Path) -> None:
    found = opened(Dense(Wrong(0.0), Memory()), documents(["ape", "bear"]), tmp_path)
    assert ask(found, "ape", 1)
    for asking in (
        partial(found.search, [Query("ape"), Query("cat")], 1, Stopwatch()),
        partial(found.exactness, ["cat"], 1),
    ):
        with pytest.raises(VectorError, match="vector of the question 'cat' is all zeros"):
            asking()
