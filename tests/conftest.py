"""What several test files need."""

from __future__ import annotations

import gc
import os
import pickle
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import httpcore2
import hydra
import pytest
import yaml
from hydra.core.global_hydra import GlobalHydra
from hypothesis import settings
from omegaconf import OmegaConf

from bears.cli import init
from bears.config.code import Modules
from tests.provider_server import ProviderServer
from tests.workspace import ROOT, SETTINGS, Workspace, finished

# How long an example may take is wall time, which a busy machine does not keep.
settings.register_profile("without-deadline", deadline=None)
settings.load_profile("without-deadline")
# A shell's background job ignores Ctrl-C, and so would every process that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
# So does nohup with a hangup. A process does not inherit a handler: it starts with the default.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)


def pytest_collection_finish() -> None:
    """Leave what was imported out of every garbage collection.

    `multipletests` of statsmodels begins one whenever it is called, which takes 0.2 s here.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _frozen() -> None:
    """Leave out what earlier modules keep, too, such as the syntax trees of all code."""
    gc.freeze()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real records of the public datasets; their licences keep them out of the repository."""
    folder = Path(__file__).resolve().parents[1].parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the real datasets are not here ({folder})")
    return folder


@pytest.fixture
def workspace(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A copy of the project in which the pipeline ran once."""
    return finished(tmp_path_factory.getbasetemp())[0].copied(tmp_path / "project")


@pytest.fixture
def sharing(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A copy as `workspace` is, in which stages that ran in another test need not run again."""
    return workspace.sharing(tmp_path_factory.getbasetemp())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder outside of any repository, in which commands run."""
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    return tmp_path


_digested: dict[str, Any] = {}


@pytest.fixture
def code_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Digest each module of the package once, for tests that run the stage `config` in process."""
    parse = Modules._parse

    def once(modules: Modules, module: str) -> tuple[str, list[str]]:
        file = modules._file(module)
        if file is None or not file.is_relative_to(ROOT):
            return parse(modules, module)
        if module not in _digested:
            _digested[module] = parse(modules, module)
        digest, imported = _digested[module]
        return digest, [*imported]

    monkeypatch.setattr(Modules, "_parse", once)


@pytest.fixture
def dvc_starts_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Let `bears init` start DVC in the first project of a session, and copy what that wrote.

    DVC takes a second to start, and writes the same into every folder.
    """
    run, top = init.run, tmp_path_factory.getbasetemp()
    begun: dict[Path, Path] = {}

    def once(folder: Path, *words: str) -> str | None:
        if words[1:3] != ("-m", "dvc"):
            return run(folder, *words)
        if "init" in words:
            begun[folder] = top / "-".join(words[3:])
            if begun[folder].is_dir():
                shutil.copytree(begun[folder], folder / ".dvc")
        if begun[folder].is_dir():
            return ""
        said = run(folder, *words)
        if "config" in words:
            shutil.copytree(folder / ".dvc", begun[folder])
        return said

    monkeypatch.setattr(init, "run", once)


@pytest.fixture
def provider() -> Iterator[Callable[..., ProviderServer]]:
    """Give a function that starts a server of a scripted model; it stops after the test."""
    with ExitStack() as stack:

        def started(behaviour: str = "good", **faults: Any) -> ProviderServer:
            server = ProviderServer(f"tests.scripted_model:{behaviour}", **faults)
            return stack.enter_context(server)

        yield started


@pytest.fixture(scope="session", autouse=True)
def made_once() -> Iterator[None]:
    """Keep what takes long and is asked for a thousand times, whatever test asks.

    Hydra takes 0.5 s for what it composed of the same bytes, OmegaConf 0.05 s to resolve it, and
    each client of a model 0.04 s to read the certificates of this machine.
    """
    compose, resolve, kept, resolved = hydra.compose, OmegaConf.to_container, {}, {}

    def compose_once(name: str, overrides: Sequence[str]) -> Any:
        path = GlobalHydra.instance().config_loader().get_search_path().get_path()
        folders = [Path(each.path) for each in path if each.provider in ("project", "main")]
        files = [
            (str(file.relative_to(folder)), file.read_bytes())
            for folder in folders
            for file in sorted(folder.rglob("*.yaml"))
        ]
        asked = (name, *overrides, *files)
        if asked not in kept:
            kept[asked] = compose(name, overrides=[*overrides])
        return kept[asked]

    def resolve_once(config: Any, **how: Any) -> Any:
        if not any(config is each for each in kept.values()):
            return resolve(config, **how)
        asked = (id(config), *how.items())
        if asked not in resolved:
            resolved[asked] = pickle.dumps(resolve(config, **how))
        return pickle.loads(resolved[asked])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hydra, "compose", compose_once)
        patch.setattr(OmegaConf, "to_container", staticmethod(resolve_once))
        patch.setattr(httpcore2, "default_ssl_context", cache(httpcore2.default_ssl_context))
        # OmegaConf parses with this one, which takes half of Hydra's time.
        patch.setattr(yaml, "SafeLoader", yaml.CSafeLoader)
        # Only a machine that loses its power would show that a file was not on its disk.
        patch.setattr(os, "fsync", lambda _: None)
        yield
