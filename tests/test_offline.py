"""After one run the same commands give the same numbers while every call to the network fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.provider_server import ProviderServer
from tests.sources.hub_server import Hub, serve
from tests.workspace import Workspace, fresh, ran

REVISION = "1908d6afbbead072334abe2965f91bd2709910ab"
BLOCKER = """
import errno, os, socket, sys

INTERNET = (socket.AF_INET, socket.AF_INET6)
NAMES = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
SENT = ("socket.connect", "socket.sendto", "socket.sendmsg")

def block(event, given):
    if event in NAMES or (event in SENT and given[0].family in INTERNET):
        with open(os.environ["BLOCKED"], "a") as file:
            file.write(f"{event} {given[-1]} {sys.argv}\\n")
        raise OSError(errno.ENETUNREACH, "Network is unreachable")

sys.addaudithook(block)
"""
"""Python runs it at the start of every process, as `sitecustomize` on PYTHONPATH."""
SELECTION = {"retriever: bm25": "retriever: wordllama", "rewriter: none": "rewriter: local"}
RAN = ["config", "download", "sample", "translate", "verify"]
RAN += ["index", "rewrite", "retrieve", "evaluate"]
CONNECT = "import socket; socket.create_connection(('127.0.0.1', {port})).close()"


@pytest.mark.slow
def test_what_ran_once_gives_the_same_numbers_without_a_network(tmp_path: Path) -> None:
    workspace = fresh(tmp_path / "project")
    place = workspace.root / "data/local/mini/drcd.json"
    hub = Hub("ours/drcd", REVISION, {"drcd.json": place.read_bytes()})
    place.unlink()
    log = tmp_path / "blocked.txt"
    (tmp_path / "blocker").mkdir()
    (tmp_path / "blocker/sitecustomize.py").write_text(BLOCKER, encoding="utf-8")
    with serve(hub), ProviderServer("tests.scripted_model:good") as server:
        overrides = ["sources.drcd.path=''", f"+sources.drcd.hub={hub.repository}"]
        overrides += [f"+sources.drcd.revision={REVISION}", "+sources.drcd.files=[drcd.json]"]
        overrides += [f'rewriter.base_url="{server.url}"', "rewriter.fill=auto"]
        for old, new in {**SELECTION, "overrides: []": f"overrides: {overrides}"}.items():
            workspace.edit("params.yaml", old, new)
        online = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "0"}
        offline = {**online, "PYTHONPATH": str(tmp_path / "blocker"), "BLOCKED": str(log)}
        repro = ("dvc", "repro", "--force", "--no-run-cache", "evaluate")
        workspace.run(*repro, variables=online)
        assert hub.downloads == ["drcd.json"]
        asked = server.stats()["requests"]
        assert asked >= 18
        first = workspace.bytes_below("metrics")
        # The servers are still there: only the blocker keeps the second run from them.
        assert ran(workspace.run(*repro, variables=offline)) == RAN
        assert workspace.bytes_below("metrics") == first
        assert (hub.downloads, server.stats()["requests"]) == (["drcd.json"], asked)
        # The hub's client looks for a list of agents, to name one in its requests, and goes on.
        calls = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        assert [line for line in calls if "stages/download.py" not in line] == []
        _assert_blocked(workspace, server.url, offline, online)


def _assert_blocked(
    workspace: Workspace, url: str, offline: dict[str, str], online: dict[str, str]
) -> None:
    """Check that the blocker blocks: a child of a child, and a stage that needs the hub."""
    connect = CONNECT.format(port=url.rpartition(":")[2].partition("/")[0])
    call = f"subprocess.call([sys.executable, '-c', {connect!r}])"
    child = f"import subprocess, sys; sys.exit({call})"
    command = (sys.executable, "-c", child)
    workspace.run(*command, variables=online)
    told = workspace.run(*command, code=1, variables=offline)
    assert "Network is unreachable" in told
    download = (sys.executable, "-m", "stages.download", "--rows", "rows", "--provenance", "s.json")
    elsewhere = {**offline, "HF_HOME": f"{offline['HF_HOME']}-empty"}
    told = workspace.run(*download, code=1, variables=elsewhere)
    assert "the hub's dataset ours/drcd" in told
    assert "stages/download.py" in Path(offline["BLOCKED"]).read_text(encoding="utf-8")
