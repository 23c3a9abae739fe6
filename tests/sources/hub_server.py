"""A dataset hub on loopback: what huggingface_hub and datasets ask for, and faults on demand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import yaml

from tests.workspace import ROOT

Headers = dict[str, str]


@dataclass
class Hub:
    """One dataset at one commit, what goes wrong with it, and what was asked of it.

    Args:
        repository: ``owner/name`` of the dataset.
        revision: the 40 digits of its only commit.
        files: path within the dataset to content.
        broken: every download breaks off before its first byte.
        damaged: files whose content differs from what the listing promises.
        beside: other datasets of the same hub.
        requests: ``METHOD path`` of every request, in order.
    """

    repository: str
    revision: str
    files: dict[str, bytes]
    broken: bool = False
    damaged: set[str] = field(default_factory=set)
    beside: tuple[Hub, ...] = ()
    requests: list[str] = field(default_factory=list)
    url: str = ""

    @property
    def downloads(self) -> list[str]:
        """The files asked for with GET, in order."""
        resolve = f"GET /datasets/{self.repository}/resolve/{self.revision}/"
        return [line.removeprefix(resolve) for line in self.requests if line.startswith(resolve)]


def ask(hub: Hub, cache: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python against the hub in a process of its own, since it is named by the environment."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("HF_")},
        **{"HF_ENDPOINT": hub.url, "HF_HOME": str(cache), "HF_HUB_DISABLE_PROGRESS_BARS": "1"},
        **{"NO_PROXY": "127.0.0.1", **variables},
    }
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve on a free port of loopback; yield the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serve(hub: Hub) -> Iterator[Hub]:
    """Serve ``hub``; its ``url`` is what HF_ENDPOINT wants."""

    class Handler(_Handler):
        dataset = hub

    with listening(Handler) as hub.url:
        yield hub


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    dataset: Hub

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the tests' output free of the server's log."""

    def _answer(self) -> None:
        # One connection asks for several datasets.
        hub = type(self).dataset
        # The branch of what was converted is at the same commit.
        path = unquote(urlsplit(self.path).path).replace("refs/convert/parquet", "main")
        hub.requests.append(f"{self.command} {path}")
        found = re.fullmatch(
            r"/(api/)?datasets/([^/]+/[^/]+)(?:/(\w[\w-]*)/([^/]+)(?:/(.*))?)?", path
        )
        asked = [each for each in (hub, *hub.beside) if found and found[2] == each.repository]
        if found is None or not asked:
            self._fail(404, "RepoNotFound", "Repository not found")
            return
        self.dataset = hub = asked[0]
        if found[4] not in (None, "main", hub.revision):
            self._fail(404, "RevisionNotFound", f"Invalid rev id: {found[4]}")
        elif not found[1]:
            self._send_file(found[5])
        else:
            self._send_json(self._api(found[3], found[5] or ""))

    def _api(self, kind: str | None, folder: str) -> Any:
        if kind == "tree":
            return self._tree(folder)
        return {
            "id": self.dataset.repository,
            "sha": self.dataset.revision,
            "private": False,
            "tags": [],
            "cardData": self._card(),
            "siblings": [{"rfilename": name} for name in self.dataset.files],
        }

    def _card(self) -> Any:
        _, dashes, head = self.dataset.files.get("README.md", b"").partition(b"---\n")
        return yaml.safe_load(head.partition(b"---\n")[0]) if dashes else None

    def _tree(self, folder: str) -> list[dict[str, Any]]:
        start = f"{folder}/" if folder else ""
        below = [name for name in self.dataset.files if name.startswith(start)]
        if parse_qs(urlsplit(self.path).query).get("recursive", ["false"]) != ["false"]:
            return self._entries(below)
        here = [name for name in below if "/" not in name.removeprefix(start)]
        folders = {start + name.removeprefix(start).split("/")[0] for name in below} - set(here)
        return self._entries(here) + [
            {"type": "directory", "path": name, "size": 0, "oid": _etag(name.encode())}
            for name in sorted(folders)
        ]

    def _entries(self, names: list[str]) -> list[dict[str, Any]]:
        files = self.dataset.files
        return [
            {"type": "file", "path": name, "size": len(files[name]), "oid": _etag(files[name])}
            for name in names
        ]

    def _send_json(self, value: Any) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _send_file(self, name: str) -> None:
        hub = self.dataset
        if name not in hub.files:
            self._fail(404, "EntryNotFound", "Entry not found")
            return
        content = hub.files[name]
        headers = {"ETag": f'"{_etag(content)}"'}
        if name in hub.damaged:
            content = bytes(len(content))
        self._send(200, content, headers, is_file=True)

    def _fail(self, status: int, code: str, message: str) -> None:
        self._send(status, b"", {"X-Error-Code": code, "X-Error-Message": message})

    def _send(self, status: int, body: bytes, headers: Headers, is_file: bool = False) -> None:
        hub = self.dataset
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Repo-Commit", hub.revision)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if is_file and hub.broken:
            body, self.close_connection = b"", True
        self.wfile.write(body)


def _etag(content: bytes) -> str:
    return sha256(content).hexdigest()
