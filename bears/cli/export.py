"""``bears export``: a benchmark to give away."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bears.errors import ConfigurationError, FormatError, first_line
from bears.publishing.export import write_export
from bears.publishing.finished import read_finished
from bears.selection.configuration import composed, language_of


def pushed(folder: Path, name: str) -> str:
    """Send a folder to a dataset, and make a private one if the hub has none of this name.

    Args:
        name: ``OWNER/NAME``.

    Returns:
        The address of the dataset.

    Raises:
        ConfigurationError: the hub refuses it, or does not answer.
    """
    from huggingface_hub import HfApi

    try:
        made = HfApi().create_repo(name, repo_type="dataset", private=True, exist_ok=True)
        HfApi().upload_folder(repo_id=made.repo_id, repo_type="dataset", folder_path=folder)
    except Exception as error:  # The library documents none.
        raise ConfigurationError(
            f"the hub did not take {name!r:.80}: {first_line(error)}. Check the name, and that "
            "HF_TOKEN may write"
        ) from None
    return str(made)


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
        # The import takes a second, and only a push needs it.
        from huggingface_hub import get_token

        if get_token() is None:
            raise ConfigurationError("the hub takes nothing without a token; set HF_TOKEN to one")
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
