"""A dense index: made shard by shard, gone on with after a kill, never of stale vectors."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bears.errors import FormatError, VectorError
from bears.retrieval.chunking import chunks
from bears.retrieval.chunking.tokens import Tokens
from bears.retrieval.cut import Cut, cuts_below, told
from bears.retrieval.dense.dense import Dense
from bears.retrieval.models.encoder import CALLED, Kind
from bears.retrieval.retriever import Query
from bears.retrieval.stopwatch import Stopwatch
from bears.retrieval.stores.memory import Memory
from bears.retrieval.stores.vector_store import Shard
from bears.types import Document
from benchmarks.parquet_corpus import stream_parquet
from tests.letters import Letters, Recorded, documents
from tests.workspace import ROOT

TEXTS = ["ape", "bear", "cat", "dog", "elk", "fox", "gnu"]


def index(folder: Path, encoder: Letters, texts: Sequence[str] = TEXTS, size: int = 2) -> Recorded:
    store = Recorded()
    Dense(encoder, store, shard_size=size).index(documents(texts), folder / "out", folder)
    return store


def interrupted(folder: Path, encoder: Letters, texts: Sequence[str] = TEXTS) -> None:
    with pytest.raises(KeyboardInterrupt):
        index(folder, encoder, texts)


def files(folder: Path, ending: str = ".npy") -> list[Path]:
    return sorted(folder.rglob(f"*{ending}"))


@pytest.mark.parametrize(("size", "sizes"), [(1, [1] * 7), (3, [3, 3, 1]), (50, [7])])
def test_every_piece_is_stored_in_order_whatever_the_shard_size(
    tmp_path: Path, size: int, sizes: list[int]
) -> None:
    shards = index(tmp_path, Letters(), size=size).shards
    assert [shard.number for shard in shards] == list(range(len(sizes)))
    assert [len(shard.texts) for shard in shards] == sizes
    assert [text for shard in shards for text in shard.texts] == TEXTS
    assert [i for shard in shards for i in shard.doc_ids] == [f"d{n}" for n in range(7)]
    assert [g for shard in shards for g in shard.groups] == ["g0", "g1"] * 3 + ["g0"]
    vectors = np.concatenate([shard.vectors for shard in shards])
    assert (vectors == Letters().documents(TEXTS)).all()
    assert vectors.dtype == np.float32


def test_no_more_documents_are_read_than_the_shards_at_hand_need(tmp_path: Path) -> None:
    read = []
    seen: list[int] = []

    def counted() -> Iterator[Document]:
        for document in documents("x" * 100):
            read.append(document.doc_id)
            yield document

    class Watching(Recorded):
        def write(self, shards: Iterable[Shard], _: Path) -> None:
            seen.extend(len(read) for _ in shards)

    Dense(Letters(), Watching(), shard_size=10).index(counted(), tmp_path, tmp_path)
    assert seen == list(range(10, 101, 10))


def test_a_run_that_was_stopped_goes_on_with_the_shard_it_was_at(tmp_path: Path) -> None:
    first = Letters(stop_before="elk")
    interrupted(tmp_path, first)
    assert first.asked == ["ape", "bear", "cat", "dog"]
    second = Letters()
    shards = index(tmp_path, second).shards
    assert second.asked == ["elk", "fox", "gnu"]
    fresh = index(tmp_path / "fresh", Letters()).shards
    assert [s.texts for s in shards] == [s.texts for s in fresh]
    for shard, other in zip(shards, fresh, strict=True):
        assert shard.vectors.tobytes() == other.vectors.tobytes()


def test_a_complete_index_leaves_nothing_in_scratch(tmp_path: Path) -> None:
    interrupted(tmp_path, Letters(stop_before="elk"))
    assert len(files(tmp_path)) == 2
    index(tmp_path, Letters())
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any((tmp_path / "vectors").iterdir())


def test_a_text_that_changed_is_encoded_anew_and_only_its_shard(tmp_path: Path) -> None:
    interrupted(tmp_path, Letters(stop_before="elk"))
    encoder = Letters()
    shards = index(tmp_path, encoder, ["ape", "bear", "cat", "doe", "elk", "fox", "gnu"]).shards
    assert encoder.asked == ["cat", "doe", "elk", "fox", "gnu"]
    assert (shards[1].vectors == Letters().documents(["cat", "doe"])).all()


def test_texts_that_differ_only_in_where_they_are_divided_are_different(tmp_path: Path) -> None:
    interrupted(tmp_path, Letters(stop_before="x"), ["ab", "c", "x"])
    encoder = Letters()
    index(tmp_path, encoder, ["a", "bc", "x"])
    assert encoder.asked == ["a", "bc", "x"]


def test_another_model_never_meets_the_vectors_of_the_former(tmp_path: Path) -> None:
    interrupted(tmp_path, Letters(1, stop_before="elk"))
    encoder = Letters(2)
    index(tmp_path, encoder)
    assert encoder.asked == TEXTS
    # The former's are still there for it.
    assert len(files(tmp_path)) == 2


def test_a_file_that_was_cut_short_is_made_again(tmp_path: Path) -> None:
    interrupted(tmp_path, Letters(stop_before="elk"))
    whole, other = files(tmp_path)
    whole.write_bytes(whole.read_bytes()[:-8])
    other.write_bytes(b"")
    encoder = Letters()
    index(tmp_path, encoder)
    assert encoder.asked == TEXTS


def test_two_runs_of_the_same_at_the_same_time_share_what_they_encode(tmp_path: Path) -> None:
    class Meanwhile(Recorded):
        def write(self, shards: Iterable[Shard], folder: Path) -> None:
            super().write((s for s in shards if s.number or not index(tmp_path, other)), folder)

    other = Letters()
    store = Meanwhile()
    encoder = Letters()
    Dense(encoder, store, shard_size=2).index(documents(TEXTS), tmp_path, tmp_path)
    assert encoder.asked == TEXTS
    assert other.asked == TEXTS[2:]
    assert not files(tmp_path)


def test_what_an_abandoned_run_kept_goes_after_a_month(tmp_path: Path) -> None:
    interrupted(tmp_path, Letters(2, stop_before="elk"))
    old, *young = files(tmp_path)
    month_ago = time.time() - 31 * 24 * 3600
    os.utime(old, (month_ago, month_ago))
    index(tmp_path, Letters(3))
    assert files(tmp_path) == young


def test_the_score_of_a_document_is_that_of_its_best_piece_across_shards(tmp_path: Path) -> None:
    texts = ["xx yy aa", "aa bb", "zz zz zz bb bb"]
    cut = list(chunks(documents(texts), Tokens(1, 0)))
    dense = Dense(Letters(), Memory(), shard_size=2)
    (tmp_path / "out").mkdir()
    dense.index(iter(cut), tmp_path / "out", tmp_path)
    searcher = dense.open(tmp_path / "out")
    hits = searcher.search([Query("a")], 3, Stopwatch())[0]
    assert [(hit.doc_id, hit.score) for hit in hits] == [("d1", 1.0), ("d0", 1.0), ("d2", 0.0)]
    assert [hit.doc_id for hit in searcher.search([Query("z")], 1, Stopwatch())[0]] == ["d2"]
    within = searcher.search([Query("b", "g1")], 3, Stopwatch())[0]
    assert [hit.doc_id for hit in within] == ["d1"]


@dataclass
class Forgetful(Letters):
    """Reads three characters of a text."""

    def cut(self, kind: Kind, texts: Sequence[str]) -> Cut:
        return Cut.of(CALLED[kind], 3, map(len, texts), [max(0, len(text) - 3) for text in texts])


@pytest.mark.parametrize("stopped", [False, True])
def test_texts_that_were_cut_are_counted_once_also_by_a_run_that_goes_on(
    tmp_path: Path, stopped: bool
) -> None:
    texts = ["four", "two", "sixsix", "elk", "elephant"]
    (tmp_path / "out").mkdir()
    if stopped:
        with pytest.raises(KeyboardInterrupt):
            Dense(Forgetful(stop_before="elk"), Recorded(), shard_size=2).index(
                documents(texts), tmp_path / "out", tmp_path
            )
    encoder = Forgetful()
    Dense(encoder, Recorded(), shard_size=2).index(documents(texts), tmp_path / "out", tmp_path)
    assert len(encoder.asked) == (3 if stopped else 5)
    (cut,) = cuts_below(tmp_path)
    assert (cut.tokens, cut.texts, cut.cut, cut.characters, cut.unread) == (3, 5, 3, 18, 9)


def test_a_cut_is_told_and_is_a_warning_where_it_is_of_many() -> None:
    few = Cut("indexed texts", 256, 2000, 200, 1_000_000, 410_000)
    many = replace(few, cut=201)
    said = "of 2,000 indexed texts were cut at 256 tokens; 41 % of their text was not read"
    assert told([few]) == [f"200 {said}"]
    assert told([many]) == [f"warning: 201 {said}"]
    assert told([replace(few, cut=0)]) == []


def test_other_errors_of_a_disk_are_not_called_a_full_one(tmp_path: Path) -> None:
    class Unwritable(Recorded):
        def write(self, *_: object) -> None:
            raise PermissionError(13, "Permission denied")

    with pytest.raises(PermissionError):
        Dense(Letters(), Unwritable()).index(documents(TEXTS), tmp_path, tmp_path)


SLOW = """
import sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from bears.retrieval.dense.dense import Dense
from tests.letters import Letters, Recorded, documents
class Slow(Letters):
    def documents(self, texts):
        print("encoding", *texts, flush=True)
        time.sleep({seconds})
        return super().documents(texts)
folder = Path({folder!r})
try:
    Dense(Slow(), Recorded(), shard_size={size}).index(
        documents("x" * {size} * 6), folder / "out", folder)
except Exception as error:
    print(f"{{type(error).__name__}}: {{error}}")
    sys.exit(3)
"""


def slow(folder: Path, seconds: float, size: int = 1) -> list[str]:
    code = SLOW.format(root=str(ROOT), seconds=seconds, folder=str(folder), size=size)
    return [sys.executable, "-c", code]


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_process_that_is_ended_from_outside_leaves_its_shards(
    tmp_path: Path, sent: signal.Signals
) -> None:
    with subprocess.Popen(
        slow(tmp_path, 0.3), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        for _ in range(600):
            if len(files(tmp_path)) >= 2:
                break
            time.sleep(0.05)
        process.send_signal(sent)
    finished = len(files(tmp_path))
    assert 2 <= finished < 6
    done = subprocess.run(slow(tmp_path, 0), capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.count("encoding") == 6 - finished
    assert not files(tmp_path, "")[1:]


def test_a_full_disk_says_so_and_what_is_encoded_is_kept(tmp_path: Path) -> None:
    """On a file system of a megabyte, which only a user namespace of one's own may mount."""
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare here")
    mount = f"mount -t tmpfs -o size=1m none {tmp_path} || exit 77\n"
    run = '"$@"; status=$?; ls -R . | grep -c "npy$"\n'
    more = f"mount -o remount,size=8m {tmp_path} && "
    script = f'{mount}cd {tmp_path}\n{run}{more}"$@"; echo $status $?'
    command = slow(tmp_path, 0, size=2000)
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, "sh", *command],
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"no file system can be mounted here: {done.stderr}")
    said = done.stdout.splitlines()
    message, kept, statuses = (line for line in said if not line.startswith("encoding"))
    assert message.startswith("StoreError: no space left for the index: No space left on device")
    # A shard takes 2,000 × 26 × 4 bytes: five of them fit.
    assert kept == "5"
    assert f"10,000 chunks are encoded and kept in {tmp_path}" in message
    assert "goes on from there" in message
    assert statuses == "3 0"
    # The one that did not fit was encoded twice.
    assert sum(line.startswith("encoding") for line in said) == 6 + 1


def parquet(file: Path, **columns: Sequence[Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(dict(columns)), file)


def test_a_corpus_can_be_a_folder_of_parquet_files(tmp_path: Path) -> None:
    parquet(tmp_path / "c" / "1.parquet", doc_id=["b"], text=["two"], other=[1], group=["g"])
    parquet(tmp_path / "c" / "0.parquet", content=["one", "漢"], doc_id=["a", "c"])
    found = list(stream_parquet(tmp_path / "c"))
    assert [(d.doc_id, d.content, d.group) for d in found] == [
        ("a", "one", ""),
        ("c", "漢", ""),
        ("b", "two", "g"),
    ]
    assert found[0] == replace(found[0], original_source="c", original_id="a", is_gold=False)


def test_a_corpus_of_parquet_files_that_cannot_be_read_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"no \*.parquet file there"):
        list(stream_parquet(tmp_path))
    file = tmp_path / "0.parquet"
    parquet(file, id=["a"], text=["one"])
    with pytest.raises(FormatError, match="has the columns id, text; expected doc_id, text or"):
        list(stream_parquet(tmp_path))
    parquet(file, doc_id=["a", "b"], text=["one", None])
    with pytest.raises(FormatError, match=r"row 2: doc_id, text must be texts, found \('b', None"):
        list(stream_parquet(tmp_path))
    file.write_bytes(b"PAR1 but not really PAR1")
    with pytest.raises(FormatError, match="not a Parquet file"):
        list(stream_parquet(tmp_path))


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
    assert len(files(tmp_path)) == 1
    shards = index(tmp_path, Letters()).shards
    assert (np.concatenate([shard.vectors for shard in shards]) == Letters().documents(TEXTS)).all()


def test_a_text_of_nothing_may_have_a_vector_of_zeros(tmp_path: Path) -> None:
    index(tmp_path, Wrong(0.0, " \u200b…"), [*TEXTS, " \u200b…"])
    with pytest.raises(VectorError, match="holds NaN"):
        index(tmp_path, Wrong(np.nan, " \u200b…"), [*TEXTS, " \u200b…"])


def test_a_question_whose_vector_says_nothing_is_told(tmp_path: Path) -> None:
    dense = Dense(Wrong(0.0), Memory())
    dense.index(documents(["ape", "bear"]), tmp_path, tmp_path)
    found = dense.open(tmp_path)
    assert found.search([Query("ape")], 1, Stopwatch())
    for ask in (
        lambda: found.search([Query("ape"), Query("cat")], 1, Stopwatch()),
        lambda: found.exactness(["cat"], 1),
    ):
        with pytest.raises(VectorError, match="vector of the question 'cat' is all zeros"):
            ask()


def test_kept_vectors_that_were_damaged_are_made_again(tmp_path: Path) -> None:
    interrupted(tmp_path, Letters(stop_before="elk"))
    spoilt = files(tmp_path)
    assert len(spoilt) == 2
    assert [len(np.load(path)) for path in spoilt] == [2, 2]
    for path in spoilt:
        content = bytearray(path.read_bytes())
        content[-40] ^= 1
        path.write_bytes(content)
    again = Letters()
    shards = index(tmp_path, again).shards
    assert again.asked == TEXTS
    assert (np.concatenate([shard.vectors for shard in shards]) == Letters().documents(TEXTS)).all()
