"""`dvc repro` is killed in every stage; the next one ends well, with all that is committed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from bears.config import read_mapping
from bears.errors import BearsError
from tests.workspace import STAGES, Workspace, environment_for, finished


def killed_in(workspace: Workspace, stage: str, moment: float, whole: bool) -> None:
    """Kill a forced run so many seconds after it began a stage.

    Args:
        whole: its stages are killed with it, as by a machine that stops; else dvc alone is, and
            the stage goes on as an orphan.
    """
    site = str(workspace.root.parent / f"{workspace.root.name}.site")
    with subprocess.Popen(
        ["dvc", "repro", "--force"],
        cwd=workspace.root,
        env={**environment_for(sys.executable), "DVC_SITE_CACHE_DIR": site},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as dvc:
        assert dvc.stdout
        assert any(f"Running stage '{stage}'" in line for line in dvc.stdout)
        time.sleep(moment)
        (os.killpg if whole else os.kill)(dvc.pid, signal.SIGKILL)
        # An orphan holds the pipe open for as long as it works.
        dvc.stdout.close()


@pytest.mark.slow
def test_after_a_kill_in_any_stage_the_next_run_makes_what_is_committed(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    workspace = finished(tmp_path_factory.getbasetemp())[0].copied(tmp_path / "project")
    outputs, dice = workspace.bytes_below("data/mini/runs"), random.Random(14)
    lock = yaml.safe_load(workspace.text("dvc.lock"))
    for number, stage in enumerate(STAGES):
        killed_in(workspace, stage, dice.random(), whole=number % 2 == 0)
        # DVC writes dvc.lock in place, so a kill may cut it; README says what to do then.
        try:
            cut = not read_mapping(workspace.root / "dvc.lock")
        except BearsError:
            cut = True
        if cut:
            workspace.git("checkout", "HEAD", "--", "dvc.lock")
        workspace.dvc("repro")
        # A lock file that was cut by the kill is made again, in the order of the stages.
        assert workspace.git("status", "--short", ":!dvc.lock") == "", (number, stage)
        assert yaml.safe_load(workspace.text("dvc.lock")) == lock, (number, stage)
    after = workspace.bytes_below("data/mini/runs")
    same = {name for name in outputs if not name.endswith("timing.json")}
    assert {name: after[name] for name in same} == {name: outputs[name] for name in same}
    assert not [name for name in workspace.bytes_below("data") if name.endswith(".tmp")]
