"""One thin program per stage: read files, call the library, write files."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

# Without an activated environment, `.venv/bin/dvc repro` runs the first `python` on PATH. The stage
# then continues with the project's own Python, instead of failing on a missing package.
_PYTHON = Path(os.environ.get("DVC_ROOT", ".")) / ".venv" / "bin" / "python"
if find_spec("hydra") is None and _PYTHON.exists() and Path(sys.executable) != _PYTHON:
    os.execv(_PYTHON, [str(_PYTHON), *sys.orig_argv[1:]])
