"""What several test files need."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import hydra
import pytest
import yaml
from hydra.core.global_hydra import GlobalHydra
from hypothesis import settings

from tests.provider_server import ProviderServer
from tests.workspace import SETTINGS, Workspace, finished

# How long an example may take is wall time, which a busy machine does not keep.
settings.register_profile("without-deadline", deadline=None)
settings.load_profile("without-deadline")
# A shell's background job ignores Ctrl-C, and so would every process that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
# So does nohup with a hangup. A process does not inherit a handler: it starts with the default.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)


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
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder outside of any repository, in which commands run."""
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def provider() -> Iterator[Callable[..., ProviderServer]]:
    """Give a function that starts a server of a scripted model; it stops after the test."""
    with ExitStack() as stack:

        def started(behaviour: str = "good", **faults: Any) -> ProviderServer:
            server = ProviderServer(f"tests.scripted_model:{behaviour}", **faults)
            return stack.enter_context(server)

        yield started


@pytest.fixture(scope="session", autouse=True)
def composed_once() -> Iterator[None]:
    """Hydra takes 0.5 s, and tests ask a thousand times for what it composed of the same bytes."""
    compose, kept = hydra.compose, {}

    def once(name: str, overrides: Sequence[str]) -> Any:
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

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hydra, "compose", once)
        # OmegaConf parses with this one, which takes half of Hydra's time.
        patch.setattr(yaml, "SafeLoader", yaml.CSafeLoader)
        yield
