"""Environments of their own for real packages that are not among ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def python_with(folder: Path, *needed: str) -> Path:
    """Make an environment with these packages and return its Python; skip without them."""
    python, uv = folder / "bin/python", [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "--quiet", str(folder)], check=True)
    # Where pip finds a build of torch for CPU, uv does too.
    links = [
        word for place in os.environ.get("PIP_FIND_LINKS", "").split() for word in ("-f", place)
    ]
    install = [*uv, "pip", "install", "--quiet", "--python", str(python), *links, *needed]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"{', '.join(needed)} cannot be installed: {done.stderr[-200:]}")
    return python
