"""Signals that end a stage or a command: one sentence, a true exit status, nothing left behind."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workspace import ROOT, environment_for

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

WORKING = """
import tempfile, time
from bears.config.edge import ended
def work():
    with tempfile.TemporaryDirectory(prefix="plain-"):
        print("working", flush=True)
        time.sleep(60)
raise SystemExit(ended("boil", work))
"""


def started(*words: str, temp: Path, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=ROOT,
        env={**environment_for(sys.executable), "TMPDIR": str(temp), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("sent", SIGNALS)
def test_what_is_ended_at_work_says_so_and_leaves_no_temporary_folder(
    tmp_path: Path, sent: signal.Signals
) -> None:
    process = started("-c", WORKING, temp=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "working\n"
    process.send_signal(sent)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (
        128 + sent,
        "boil: interrupted; what was finished is kept\n",
    )
    assert not list(tmp_path.iterdir())
