"""Encoding by tasks of Ray: several processes, GPUs or machines."""

import logging
import os
import socket
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from bears.errors import BearsError, ConfigurationError, RetrieverUnavailable
from bears.retrieval.dense.shards import Rows, VectorCache, missing, usable, with_vectors
from bears.retrieval.vectors import Encoded, Encoder, Shard, TextShard, encoded
from bears.types import Positive

OBJECT_STORE = 512 * 2**20
"""Bytes for the texts and vectors in transit; Ray puts the rest on disk."""

AHEAD = 2
"""Shards per worker at a time: the second waits while the first is encoded."""

TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
TOKEN_FILE = Path("~/.ray/auth_token")


@dataclass(frozen=True, slots=True)
class RayTasks:
    """Runs one task of Ray per shard; Ray runs it again elsewhere if its worker is lost.

    One shard is one call, so the encoder sees the same texts together as with the local engine.

    Args:
        workers: how many tasks run at a time; a process keeps its model for the next task.
        cpus: of one worker.
        gpus: of one worker; a fraction lets workers share one.
        address: host:port of a running cluster, whose token Ray reads from RAY_AUTH_TOKEN or
            ~/.ray/auth_token; empty: a cluster on this machine, which ends with the run.
    """

    workers: Positive = 2
    cpus: Annotated[float, Field(gt=0)] = 1
    gpus: Annotated[float, Field(ge=0)] = 0
    address: str = ""

    def shards(
        self, texts: Iterable[TextShard], encoder: Encoder, kept: VectorCache
    ) -> Generator[Shard, None, None]:
        """Yield the shards with their vectors, in order.

        Raises:
            RetrieverUnavailable: Ray is not installed, no cluster answers, or a shard was lost
                with its worker each time.
            ConfigurationError: the cluster is too small for the workers.
        """
        ray, task = _ray(), None
        pending: deque[tuple[TextShard, Rows, list[str], Any]] = deque()

        def finished() -> Shard:
            shard, rows, left, reply = pending.popleft()
            if left:
                rows |= kept.keep(left, usable(shard, left, _result(ray, reply)))
            return with_vectors(shard, rows)

        try:
            for shard in texts:
                rows = kept.find(shard.texts)
                left = missing(shard, rows)
                if left and task is None:
                    # A run that finds all vectors needs no cluster.
                    task, model = self._start(ray), ray.put(encoder)
                reply = task.remote(model, left) if task and left else None
                pending.append((shard, rows, left, reply))
                if len(pending) > AHEAD * self.workers:
                    yield finished()
            while pending:
                yield finished()
        finally:
            ray.shutdown()

    def _start(self, ray: Any) -> Any:
        """Connect, and return the task that encodes."""
        from ray.util.placement_group import placement_group
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        settings: dict[str, Any] = {"address": self.address}
        if not self.address:
            settings = {
                "address": "local",
                "num_cpus": ceil(self.workers * self.cpus),
                "include_dashboard": False,
                "object_store_memory": OBJECT_STORE,
            }
        try:
            _connect(self.address)
            ray.init(**settings, configure_logging=False, log_to_driver=False)
        except (OSError, ray.exceptions.RayError) as error:
            raise RetrieverUnavailable(
                f"engine.address is {self.address!r}: no Ray cluster answers there, or its token "
                f"is not the one in {TOKENS[0]} or {TOKEN_FILE} ({error})"
            ) from None
        bundle = {"CPU": self.cpus, **({"GPU": self.gpus} if self.gpus else {})}
        there = ray.cluster_resources()
        for kind, amount in bundle.items():
            if self.workers * amount > there.get(kind, 0):
                raise ConfigurationError(
                    f"engine.workers is {self.workers}: they take {self.workers * amount:g} "
                    f"{kind}, but the cluster has {there.get(kind, 0):g}; choose fewer workers or "
                    "a larger cluster"
                )
        # A placement group limits the tasks to this many workers on a larger cluster too.
        workers = PlacementGroupSchedulingStrategy(placement_group([bundle] * self.workers))
        # By default Ray ends a process that has used a GPU, and its model with it.
        task = ray.remote(num_cpus=self.cpus, num_gpus=self.gpus, max_calls=0)(_encode)
        return task.options(scheduling_strategy=workers)


_MODELS: list[Encoder] = []
"""In a worker: the encoder of its run, with its weights."""


def _encode(model: Encoder, texts: Sequence[str]) -> Encoded:
    # Ray passes a copy to each task, and starts new workers for each run.
    if not _MODELS:
        model.load()
        _MODELS.append(model)
    result = encoded(_MODELS[0], texts)
    return result._replace(vectors=np.asarray(result.vectors, np.float32))


def _result(ray: Any, reply: Any) -> Encoded:
    try:
        result: Encoded = ray.get(reply)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, BearsError | OSError):
            raise error.cause from None  # The user can fix it.
        raise
    except ray.exceptions.RayError as error:
        raise RetrieverUnavailable(
            f"the worker of a shard was lost, and so were those that took over: {error}. The "
            "vectors so far are kept; run the same again to resume"
        ) from None
    return result


def _connect(address: str) -> None:
    """Raise OSError if no server listens at the address; Ray itself retries for many minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()


def _ray() -> Any:
    # By default Ray sends usage statistics, and writes its own messages to stderr.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    # A cluster expects a token by default, but Ray only sends it in this mode.
    if any(os.environ.get(name) for name in TOKENS) or TOKEN_FILE.expanduser().exists():
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    try:
        import ray
    except ImportError as error:
        raise RetrieverUnavailable(
            f'engine is ray, which is not installed ({error}): `pip install "ray==2.60.*"`, '
            "or choose engine: local"
        ) from None
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    return ray
