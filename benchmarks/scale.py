"""Measure dense indexing of large corpora: wall time, peak memory, and a run after a kill.

    python -m benchmarks.scale [folder] [passages ...]

Makes a synthetic corpus of each size (default 100,000 and 1,000,000) as Parquet shards, indexes
each in a process of its own with the local engine, the model that a package carries and the
`memory` store, and prints a row for each. Then the largest is indexed again, killed in the middle
and run once more; its files must be those of the run that was not killed. Needs about 3.5 GB of
disk for a million passages. What took part is removed afterwards, the corpora are not.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from tabulate import tabulate

from bears.files.records import atomic_write, digest_files
from bears.retrieval.chunking import NoChunking, chunks
from bears.retrieval.dense.dense import Dense
from bears.retrieval.models.wordllama import WordLlama
from bears.retrieval.stores.memory import Memory
from benchmarks.parquet_corpus import stream_parquet

SIZES = (100_000, 1_000_000)
ROWS = 50_000
WORDS = 56
"""Of a passage on average, as in MS MARCO."""


def main(folder: Path, sizes: list[int]) -> None:
    """Print one row for each size, and one for each half of the killed run."""
    rows = []
    for size in sizes:
        corpus = _corpus(folder, size)
        rows.append([f"{size:,}", *_measure(corpus, folder / f"index-{size}", folder)])
    corpus, out = folder / f"corpus-{sizes[-1]}", folder / "index-killed"
    rows.append(["killed", *_killed(corpus, out, folder, sizes[-1])])
    # As DVC does before it runs a stage again.
    shutil.rmtree(out)
    rows.append(["gone on", *_measure(corpus, out, folder)])
    headers = ["passages", "wall s", "passages/s", "peak RSS MB", "index MB"]
    print(tabulate(rows, headers=headers, floatfmt=".0f"))
    same = _digests(out) == _digests(folder / f"index-{sizes[-1]}")
    print(f"the index after the kill is {'the same, byte for byte' if same else 'DIFFERENT'}")
    for index in folder.glob("index-*"):
        shutil.rmtree(index)


def _corpus(folder: Path, size: int) -> Path:
    """Return a folder of Parquet shards, made once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    words = np.array(_vocabulary())
    # Zipf's law: the frequency of a word falls with its rank.
    shares = 1 / np.arange(1, len(words) + 1)
    for first in range(0, size, ROWS):
        file = folder / f"corpus-{size}" / f"{first:010d}.parquet"
        if file.exists():
            continue
        chance = np.random.default_rng(first)
        number = min(ROWS, size - first)
        lengths = chance.integers(WORDS // 2, WORDS * 3 // 2, number)
        drawn = iter(words[chance.choice(len(words), lengths.sum(), p=shares / shares.sum())])
        texts = [" ".join(next(drawn) for _ in range(length)) for length in lengths]
        ids = [f"p{first + i}" for i in range(number)]
        with atomic_write(file) as stream:
            pq.write_table(pa.table({"doc_id": ids, "text": texts}), stream)
    return folder / f"corpus-{size}"


def _vocabulary() -> list[str]:
    """Return words that the model knows, so that lengths in tokens are those of real English."""
    import wordllama

    (file,) = Path(wordllama.__file__).parent.glob("tokenizers/*.json")
    known = json.loads(file.read_text(encoding="utf-8"))["model"]["vocab"]
    return sorted(token[1:] for token in known if re.fullmatch("▁[a-z]{2,}", token))


def _index(corpus: Path, out: Path, scratch: Path) -> None:
    """Index in a child process."""
    dense = Dense(WordLlama(256), Memory())
    out.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    dense.index(chunks(stream_parquet(corpus), NoChunking()), out, scratch)
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1000
    print(json.dumps({"seconds": time.perf_counter() - started, "peak": peak}))


def _command(corpus: Path, out: Path, folder: Path) -> list[str]:
    return [sys.executable, "-m", "benchmarks.scale", "--index", *map(str, (corpus, out, folder))]


def _measure(corpus: Path, out: Path, folder: Path) -> list[Any]:
    done = subprocess.run(
        _command(corpus, out, folder), stdout=subprocess.PIPE, encoding="utf-8", check=True
    )
    measured = json.loads(done.stdout)
    size = int(corpus.name.rpartition("-")[2])
    stored = sum(file.stat().st_size for file in out.iterdir()) / 1e6
    return [measured["seconds"], size / measured["seconds"], measured["peak"], stored]


def _killed(corpus: Path, out: Path, folder: Path, size: int) -> list[Any]:
    """Kill a run when half of its vectors are there."""
    started = time.perf_counter()
    with subprocess.Popen(_command(corpus, out, folder)) as process:
        while process.poll() is None:
            kept = sum(file.stat().st_size for file in folder.rglob("*.npy") if _whole(file))
            if kept >= size * 256 * 4 / 2:
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.5)
    return [time.perf_counter() - started]


def _whole(file: Path) -> bool:
    return file.parent.parent.name == "vectors"


def _digests(folder: Path) -> dict[str, str]:
    return digest_files(sorted(file for file in folder.iterdir() if file.suffix != ".tmp"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--index"]:
        _index(*map(Path, sys.argv[2:]))
    elif {"-h", "--help"} & set(sys.argv):
        sys.exit(__doc__)
    else:
        place = Path(sys.argv[1]) if sys.argv[1:] else Path(tempfile.mkdtemp(prefix="scale-"))
        main(place, [int(word.replace(",", "")) for word in sys.argv[2:]] or list(SIZES))
