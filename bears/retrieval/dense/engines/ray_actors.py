"""Encoding by actors of Ray: several processes, GPUs or machines."""

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
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
"""Batches of each actor at a time: the second waits while the first is encoded."""

TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
TOKEN_FILE = Path("~/.ray/auth_token")


@dataclass(frozen=True, slots=True)
class RayActors:
    """Actors that each hold the model take turns at the batches.

    One batch is one call, so the encoder sees the same texts together as with the local engine.
    Where an actor is lost, the others take over the batches that it had. Batches are handed on in
    order.

    Args:
        workers: actors.
        cpus: that one actor takes.
        gpus: that one actor takes; a fraction lets actors share one.
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
        """The batches with their vectors, in order.

        Raises:
            RetrieverUnavailable: Ray is not installed, no cluster answers, or every actor was lost.
            ConfigurationError: the cluster is too small for the workers.
        """
        ray = _ray()
        under_way: deque[tuple[TextShard, Rows, list[str], Any]] = deque()

        def finished() -> Shard:
            shard, rows, missing, asked = under_way.popleft()
            if missing:
                rows |= kept.keep(shard, missing, actors.answer(asked))
            return shard.with_vectors(rows)

        with closing(_Actors(ray, lambda: self._start(ray, encoder))) as actors:
            for shard in texts:
                rows = kept.find(shard.texts)
                missing = shard.missing(rows)
                under_way.append((shard, rows, missing, missing and actors.ask(missing)))
                if len(under_way) > AHEAD * self.workers:
                    yield finished()
            while under_way:
                yield finished()

    def _start(self, ray: Any, encoder: Encoder) -> list[Any]:
        """Connect, and start the actors."""
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
        actor = ray.remote(_Encode).options(num_cpus=self.cpus, num_gpus=self.gpus)
        return [actor.remote(encoder) for _ in range(self.workers)]

    def _check_size(self, there: Mapping[str, float]) -> None:
        for kind, each in (("CPU", self.cpus), ("GPU", self.gpus)):
            if self.workers * each > there.get(kind, 0):
                raise ConfigurationError(
                    f"engine.workers is {self.workers}: they take {self.workers * each:g} {kind}, "
                    f"but the cluster has {there.get(kind, 0):g}; choose fewer workers or a larger "
                    "cluster"
                )


class _Encode:
    """An actor: its model is loaded at the first batch and stays."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def documents(self, texts: Sequence[str]) -> Encoded:
        found = encoded(self._encoder, texts)
        return found._replace(vectors=np.asarray(found.vectors, np.float32))


class _Actors:
    """The actors that are left. They are started at the first question: not every run has one."""

    def __init__(self, ray: Any, start: Callable[[], list[Any]]) -> None:
        self._ray, self._start = ray, start
        self._left: deque[Any] = deque()

    def ask(self, texts: Sequence[str]) -> Any:
        """Hand texts to the next actor; gives what `answer` wants."""
        if not self._left:
            self._left.extend(self._start())
        self._left.rotate(-1)
        return self._left[0], self._left[0].documents.remote(texts), texts

    def answer(self, asked: Any) -> Encoded:
        """Wait for what `encoded` gives; where their actor is lost, another one is asked."""
        actor, reply, texts = asked
        try:
            answered: Encoded = self._ray.get(reply)
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, BearsError | OSError):
                raise error.cause from None  # What the user can mend, as it is.
            raise
        except self._ray.exceptions.RayActorError as error:
            if actor in self._left:
                self._left.remove(actor)
            if not self._left:
                raise RetrieverUnavailable(
                    f"every worker of the engine was lost, the last one so: {error}. What is "
                    "encoded is kept; run the same again to go on"
                ) from None
            return self.answer(self.ask(texts))
        return answered

    def close(self) -> None:
        """Disconnect from the cluster, or stop it where it is this run's own."""
        self._ray.shutdown()


def _knock(address: str) -> None:
    """Ray itself tries for many minutes. Raises OSError where nobody listens."""
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
