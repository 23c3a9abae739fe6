"""``bears export``: a benchmark to give away."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bears.errors import ConfigurationError, FormatError
from bears.publishing.export import write_export
from bears.publishing.finished import read_finished
from bears.publishing.push import pushed, require_token
from bears.selection.configuration import composed, language_of


def export(
    folder: Path, overrides: Sequence[str] = (), *, benchmark: str = "", push: str = ""
) -> None:
    """Write the benchmark as a BEIR folder and as parquet, which MTEB loads.

    The folder also has a dataset card and an attestation.

    Args:
        folder: must not exist yet
        push: push it to this dataset on the hub, OWNER/NAME, as well; a new one is private. Needs
            HF_TOKEN
    """
    if push:
        require_token()
    if folder.exists():
        raise FormatError(f"{folder} exists already; name a new folder, or remove it first")
    finished = read_finished(composed(benchmark, overrides))
    records, selected = finished.files.translated, finished.benchmark.language
    if (language := language_of(records)) != selected:
        raise ConfigurationError(
            f"{records} is in {language}, but the configuration says {selected!r}; select in "
            "params.yaml what made it"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    # The folder appears only when it is complete, so that an interrupted export is never used.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as name:
        attestation = write_export(finished, Path(name))
        if push:
            print(f"pushed to {pushed(Path(name), push)}")
        Path(name).chmod(0o755)
        shutil.copytree(name, folder)
    print(f"{folder}: {len(finished.questions)} questions, {len(finished.documents)} documents")
    print(f"root {attestation.root}")


COMMAND = export
