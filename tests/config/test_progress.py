"""A long step says how far it is: in a log as in a terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import termios

import pytest

from tests.workspace import ROOT

WORK = """
import time
from bears.files import progress
progress.LOGGED.update(delay=0.5, mininterval=0.5)
with progress.Progress(total=40, unit=" chunks") as bar:
    for _ in range(20):
        bar.update(2)
        time.sleep(0.1)
"""
COMMAND = [sys.executable, "-c", WORK]


@pytest.mark.slow
def test_a_log_gets_the_time_left_every_so_often() -> None:
    done = subprocess.run(COMMAND, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert 2 <= len(re.findall(r"\d+/40 \[00:0\d<00:0\d", done.stderr)) <= 5


@pytest.mark.slow
def test_a_terminal_gets_a_bar() -> None:
    own, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    with subprocess.Popen(COMMAND, cwd=ROOT, stderr=theirs) as process:
        os.close(theirs)
        shown = ""
        try:
            while data := os.read(own, 10_000):
                shown += data.decode()
        except OSError:  # The terminal is closed.
            pass
    assert process.returncode == 0
    assert re.search(r"\r100%\|█+\| 40/40 \[00:0\d<00:00", shown)
