"""Encoding by tasks of Ray: several processes, GPUs or machines."""

import logging
import os
import socket
from collections import deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from bears.errors import BearsError, ConfigurationError, RetrieverUnavailable
from bears.retrieval.dense.shards import Rows, TextShard, VectorCache
from bears.retrieval.models.encoder import Encoded, Encoder, encoded
from bears.retrieval.stores.vector_store import Shard
from bears.types import Positive

OBJECT_STORE = 512 * 2**20
"""Bytes for the texts and vectors under way; what does not fit lies on the disk meanwhile."""

AHEAD = 2
"""Shards of each worker at a time: the second waits while the first is encoded."""

TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
TOKEN_FILE = Path("~/.ray/auth_token")


@dataclass(frozen=True, slots=True)
class RayTasks:
    """Ray runs a task for each shard, and runs it again elsewhere where its worker is lost.

    One shard is one call, so the encoder sees the same texts together as with the local engine.
    Shards are handed on in order.

    Args:
        workers: tasks that run at a time; a process keeps its model for the next one.
        cpus: that one worker takes.
        gpus: that one worker takes; a fraction lets workers share one.
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
        under_way: deque[tuple[TextShard, Rows, list[str], Any]] = deque()

        def finished() -> Shard:
            shard, rows, missing, reply = under_way.popleft()
            if missing:
                rows |= kept.keep(shard, missing, _answer(ray, reply))
            return shard.with_vectors(rows)

        try:
            for shard in texts:
                rows = kept.find(shard.texts)
                missing = shard.missing(rows)
                if missing and task is None:
                    # Not every run needs a cluster.
                    task, model = self._start(ray), ray.put(encoder)
                reply = task.remote(model, missing) if task and missing else None
                under_way.append((shard, rows, missing, reply))
                if len(under_way) > AHEAD * self.workers:
                    yield finished()
            while under_way:
                yield finished()
        finally:
            ray.shutdown()

    def _start(self, ray: Any) -> Any:
        """Connect, and return the task that encodes."""
        from ray.util.placement_group import placement_group
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        quiet = {"configure_logging": False, "log_to_driver": False}
        try:
            if self.address:
                _knock(self.address)
                ray.init(address=self.address, **quiet)
            else:
                ray.init(
                    address="local",
                    num_cpus=ceil(self.workers * self.cpus),
                    include_dashboard=False,
                    object_store_memory=OBJECT_STORE,
                    **quiet,
                )
        except (OSError, ray.exceptions.RayError) as error:
            raise RetrieverUnavailable(
                f"engine.address is {self.address!r}: no Ray cluster answers there, or it wants "
                f"another token than {TOKENS[0]} or {TOKEN_FILE} has ({error})"
            ) from None
        self._check_size(ray.cluster_resources())
        each = {"CPU": self.cpus, **({"GPU": self.gpus} if self.gpus else {})}
        # On a larger cluster too, no more than the workers run at a time.
        places = PlacementGroupSchedulingStrategy(placement_group([each] * self.workers))
        # By default Ray ends a process that has used a GPU, and its model with it.
        made = ray.remote(num_cpus=self.cpus, num_gpus=self.gpus, max_calls=0)(_encode)
        return made.options(scheduling_strategy=places)

    def _check_size(self, there: Mapping[str, float]) -> None:
        for kind, each in (("CPU", self.cpus), ("GPU", self.gpus)):
            if self.workers * each > there.get(kind, 0):
                raise ConfigurationError(
                    f"engine.workers is {self.workers}: they take {self.workers * each:g} {kind}, "
                    f"but the cluster has {there.get(kind, 0):g}; choose fewer workers or a larger "
                    "cluster"
                )


_MODELS: list[Encoder] = []
"""In a worker, the encoder of its run, whose weights are read at its first text."""


def _encode(model: Encoder, texts: Sequence[str]) -> Encoded:
    # Ray makes a copy for each task, and workers of its own for each run.
    if not _MODELS:
        _MODELS.append(model)
    found = encoded(_MODELS[0], texts)
    return found._replace(vectors=np.asarray(found.vectors, np.float32))


def _answer(ray: Any, reply: Any) -> Encoded:
    try:
        answered: Encoded = ray.get(reply)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, BearsError | OSError):
            raise error.cause from None  # What the user can fix, as it is.
        raise
    except ray.exceptions.RayError as error:
        raise RetrieverUnavailable(
            f"the worker of a shard was lost, and so were those that took over: {error}. What is "
            "encoded is kept; run the same again to go on"
        ) from None
    return answered


def _knock(address: str) -> None:
    """Raise OSError where nobody listens; Ray itself tries for many minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()


def _ray() -> Any:
    # Ray reports on its use to its makers otherwise, and writes of its own affairs to stderr.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    # A cluster wants its token by default, but Ray shows it to one only where this says so.
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
