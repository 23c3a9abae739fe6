"""A hub on loopback that takes what huggingface_hub pushes to a dataset."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tests.sources.hub_server import listening


@dataclass
class PushingHub:
    """What was pushed: the datasets that were made, and path to content."""

    made: list[dict[str, Any]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    url: str = ""


@contextmanager
def pushed_to(
    monkeypatch: pytest.MonkeyPatch, token: str = "hf_x", status: int = 200
) -> Iterator[PushingHub]:
    """Serve a hub that takes a push with this token, or refuses it with another status."""
    hub = PushingHub()

    class Handler(_Handler):
        told, answer = hub, status

    with listening(Handler) as hub.url:
        # The library reads HF_ENDPOINT when it is imported.
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        monkeypatch.setenv("HF_TOKEN", token)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield hub


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    told: PushingHub
    answer: int

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.answer != 200 or self.headers["Authorization"] != "Bearer hf_x":
            self._send(max(self.answer, 401), {})
        elif self.path == "/api/repos/create":
            self.told.made.append(json.loads(body))
            self._send(200, {"url": f"{self.told.url}/datasets/me/mini"})
        elif self.path == "/api/validate-yaml":
            self._send(200, {"errors": [], "warnings": []})
        elif self.path == "/api/datasets/me/mini/preupload/main":
            asked = [each["path"] for each in json.loads(body)["files"]]
            plain = {"uploadMode": "regular", "shouldIgnore": False}
            self._send(200, {"files": [{"path": path, **plain} for path in asked]})
        elif self.path == "/api/datasets/me/mini/commit/main":
            for line in body.splitlines():
                row = json.loads(line)
                if row["key"] == "file":
                    content = base64.b64decode(row["value"]["content"])
                    self.told.files[row["value"]["path"]] = content
            commit = f"{self.told.url}/datasets/me/mini/commit/{'1' * 40}"
            self._send(200, {"commitUrl": commit, "commitOid": "1" * 40})
        else:
            self._send(404, {"error": "not found"})

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the tests' output free of the server's log."""

    def _send(self, status: int, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status != 200:
            self.send_header("X-Error-Message", "no right to write")
        self.end_headers()
        self.wfile.write(body)
