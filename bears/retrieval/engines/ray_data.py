"""Encoding by Ray Data: several processes, GPUs or machines."""

from __future__ import annotations

import logging
import os
import pickle
import socket
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from bears.errors import BearsError, ConfigurationError, RetrieverUnavailable
from bears.formats.records import atomic_write
from bears.retrieval.encoder import Encoder
from bears.retrieval.shards import Batch, Kept, read_vectors, write_vectors
from bears.retrieval.vector_store import Shard

OBJECT_STORE = 128 * 2**20
"""Bytes for what passes between processes: names of files, since the rest lies in them."""

TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
TOKEN_FILE = Path("~/.ray/auth_token")


@dataclass(frozen=True, slots=True)
class RayData:
    """Actors that each hold the model turn Parquet shards of texts into shards of vectors.

    One batch is one task, so the encoder sees the same texts together as with the local engine,
    and a worker that is lost costs the batches that it had. Batches are handed on in order.

    The scratch folder, ``.bears`` of the checkout, must be one that every machine sees.

    Args:
        name: of the file under conf/engine.
        workers: actors.
        cpus: that one actor takes.
        gpus: that one actor takes; a fraction lets actors share one.
        address: host:port of a running cluster, whose token Ray reads from RAY_AUTH_TOKEN or
            ~/.ray/auth_token; empty: a cluster on this machine, which ends with the run.
    """

    name: str
    workers: int = 2
    cpus: float = 1
    gpus: float = 0
    address: str = ""

    def __post_init__(self) -> None:
        if self.workers < 1 or self.cpus <= 0 or self.gpus < 0:
            raise ConfigurationError(
                f"engine has workers {self.workers}, cpus {self.cpus} and gpus {self.gpus}; "
                "expected at least 1, more than 0 and at least 0"
            )

    def shards(
        self, batches: Iterable[Batch], encoder: Encoder, kept: Kept
    ) -> Generator[Shard, None, None]:
        """The batches with their vectors, in order.

        Raises:
            RetrieverUnavailable: Ray is not installed, or no cluster answers.
            ConfigurationError: the cluster is too small for the workers.
        """
        _ray()
        files = [_write_texts(kept.vectors_of(batch), batch) for batch in batches]
        missing = [str(file) for file in files if not file.exists()]
        if not missing:
            yield from map(_shard, files, range(len(files)))
            return
        with self._cluster():
            encoded = self._encoded(missing, encoder)
            waited_for = frozenset(missing)
            for number, file in enumerate(files):
                if str(file) in waited_for:
                    next(encoded)
                yield _shard(file, number)

    def _encoded(self, files: list[str], encoder: Encoder) -> Iterator[str]:
        """Each of ``files``, in order, as soon as its vectors are there."""
        import ray.data

        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = True
        # A batch may take a slow model longer than the half hour that Ray Data waits.
        context.execution_no_progress_timeout_s = -1
        tasks = ray.data.from_items(
            [{"file": file} for file in files], override_num_blocks=len(files)
        )
        done = tasks.map_batches(
            _Encode,
            batch_size=1,
            fn_constructor_args=(encoder,),
            compute=ray.data.ActorPoolStrategy(size=self.workers),
            num_cpus=self.cpus,
            num_gpus=self.gpus or None,
        )
        for row in done.iter_rows():
            if row["error"]:
                raise pickle.loads(row["error"])
            yield row["file"]

    @contextmanager
    def _cluster(self) -> Iterator[None]:
        """Connect, and disconnect or stop at the end."""
        ray = _ray()
        quiet = {"configure_logging": False, "log_to_driver": False}
        try:
            if self.address:
                _knock(self.address)
                ray.init(address=self.address, **quiet)
            else:
                # One CPU more than the actors take: where they take all, Ray Data never finishes.
                ray.init(
                    address="local",
                    num_cpus=ceil(self.workers * self.cpus) + 1,
                    include_dashboard=False,
                    object_store_memory=OBJECT_STORE,
                    **quiet,
                )
        except (OSError, ray.exceptions.RayError) as error:
            raise RetrieverUnavailable(
                f"engine.address is {self.address!r}: no Ray cluster answers there, or it wants "
                f"another token than {TOKENS[0]} or {TOKEN_FILE} has ({error})"
            ) from None
        try:
            self._check_size(ray.cluster_resources())
            yield
        finally:
            ray.shutdown()

    def _check_size(self, there: Mapping[str, float]) -> None:
        wanted = {"CPU": self.workers * self.cpus, "GPU": self.workers * self.gpus}
        spare = {"CPU": 1, "GPU": 0}
        for kind, number in wanted.items():
            if number and number + spare[kind] > there.get(kind, 0):
                raise ConfigurationError(
                    f"engine.workers is {self.workers}: they take {number:g} {kind}, and Ray "
                    f"itself {spare[kind]}, but the cluster has {there.get(kind, 0):g}; "
                    "choose fewer workers or a larger cluster"
                )


def _knock(address: str) -> None:
    """Ray itself tries for many minutes. Raises OSError where nobody listens."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()


class _Encode:
    """An actor: its model is loaded at the first shard and stays."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Write the vectors; an error that the user can mend comes back as it is, pickled."""
        error = b""
        for file in map(Path, batch["file"]):
            try:
                self._encode(file)
            except (BearsError, OSError) as problem:
                error = pickle.dumps(problem)
        return {"file": batch["file"], "error": [error]}

    def _encode(self, file: Path) -> None:
        if not _texts_of(file).exists():
            raise RetrieverUnavailable(
                f"the worker on {os.uname().nodename} sees no {_texts_of(file)}; the checkout "
                "must lie in a folder that every machine of the cluster shares"
            )
        texts = _read(file, ["text"])["text"]
        write_vectors(file, np.asarray(self._encoder.documents(texts), np.float32))


def _texts_of(file: Path) -> Path:
    return file.with_suffix(".parquet")


def _write_texts(file: Path, batch: Batch) -> Path:
    """Write what ``file`` will hold the vectors of, beside it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not _texts_of(file).exists():
        columns = {"doc_id": batch.doc_ids, "group": batch.groups, "text": batch.texts}
        with atomic_write(_texts_of(file)) as stream:
            pq.write_table(
                pa.table({name: list(column) for name, column in columns.items()}), stream
            )
    return file


def _read(file: Path, columns: list[str]) -> dict[str, list[str]]:
    import pyarrow.parquet as pq

    table: dict[str, list[str]] = pq.read_table(_texts_of(file), columns=columns).to_pydict()
    return table


def _shard(file: Path, number: int) -> Shard:
    row = _read(file, ["doc_id", "group", "text"])
    batch = Batch(number, *(tuple(row[name]) for name in ("doc_id", "group", "text")))
    vectors = read_vectors(file, len(batch.texts))
    if vectors is None:
        raise RetrieverUnavailable(
            f"{file}: the workers left no vectors for these {len(batch.texts)} pieces; remove "
            "the file and run again"
        )
    return batch.with_vectors(vectors)


def _ray() -> Any:
    # Ray reports on its use to its makers otherwise, and writes of its own affairs to stderr.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    # A cluster wants its token by default, but Ray shows it to one only where this says so.
    if any(os.environ.get(name) for name in TOKENS) or TOKEN_FILE.expanduser().exists():
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise RetrieverUnavailable(
            f'engine is ray, which is not installed ({error}): `pip install "ray[data]==2.60.*"`, '
            "or choose engine: local"
        ) from None
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return ray
