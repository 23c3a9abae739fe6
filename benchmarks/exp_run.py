"""Measure what DVC adds to an experiment that only changes the retriever.

    python -m benchmarks.exp_run

In a clone of the checkout (what is committed), on `mini`: the wall time of
``dvc exp run -S retriever=wordllama``, and of the same stage programs by hand, one after the
other. The difference is what DVC costs. Five rounds, the medians count.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

ROUNDS = 5
STAGES = ("config", "index", "retrieve", "evaluate", "generate", "judge")


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", ".", str(clone)], check=True)
        _run(clone, "dvc", "repro")
        experiment, work = [], []
        for _ in range(ROUNDS):
            # Without its cached results, so that the stages run and are not just brought back.
            shutil.rmtree(clone / ".dvc" / "cache" / "runs", ignore_errors=True)
            experiment.append(_run(clone, "dvc", "exp", "run", "-S", "retriever=wordllama"))
            work.append(
                sum(_run(clone, sys.executable, "-m", f"stages.{stage}") for stage in STAGES)
            )
            _run(clone, "git", "checkout", "--quiet", "--force", "HEAD")
            _run(clone, "touch", "params.yaml")
            _run(clone, "dvc", "repro")
    whole, alone = median(experiment), median(work)
    print(f"dvc exp run   {whole:.2f} s")
    print(f"stages alone  {alone:.2f} s")
    print(f"ratio         {whole / alone:.2f} (at most 3 is wanted)")


def _run(folder: Path, *command: str) -> float:
    environment = {**os.environ, "DVC_NO_ANALYTICS": "1"}
    # Where it is set, every process compiles all that it imports, DVC first of all.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started = perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.decode()}")
    return perf_counter() - started


if __name__ == "__main__":
    main()
