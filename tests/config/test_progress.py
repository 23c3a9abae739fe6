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
progress.FIRST_S, progress.EVERY_S = 0.5, 0.5
with progress.reported("index"):
    time.sleep(0.8)
    with progress.Progress(total=40, unit=" chunks") as bar:
        for _ in range(20):
            bar.update(2)
            time.sleep(0.1)
    time.sleep(0.8)
time.sleep(0.6)
"""
AT_WORK = r"index: running for \d s"
COMMAND = [sys.executable, "-c", WORK]


@pytest.mark.slow
def test_a_log_gets_a_line_with_the_time_left_every_so_often() -> None:
    done = subprocess.run(COMMAND, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    lines = done.stderr.splitlines()
    assert "\r" not in done.stderr
    bars = [line for line in lines if not re.fullmatch(AT_WORK, line)]
    assert 3 <= len(bars) <= 5
    assert all(re.fullmatch(r"index: \d+% \d+/40 \[00:0\d<00:0\d, .* chunks/s\]", b) for b in bars)
    assert re.fullmatch(AT_WORK, lines[0])
    assert re.fullmatch(AT_WORK, lines[-1])


@pytest.mark.slow
def test_a_terminal_gets_a_bar_and_lines_only_where_there_is_none() -> None:
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
    assert 2 <= len(re.findall(AT_WORK, shown)) <= 4
    assert "index: 5" not in shown
