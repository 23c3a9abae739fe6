"""List and fetch the files of datasets on the hub; the library ``datasets`` says which they are.

HF_ENDPOINT in the environment names another hub than huggingface.co, HF_TOKEN a key for what is not
public. The libraries are imported where they are used: that takes more than a second.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bears.errors import BearsError, FormatError, first_line


def commit_of(hub: str, revision: str = "main") -> str:
    """Return the commit that a branch of a dataset is at now. Raises FormatError."""
    with _asking(hub, revision) as api:
        return str(api.dataset_info(hub, revision=revision).sha)


def card_of(hub: str, revision: str) -> dict[str, Any]:
    """Return the metadata of a dataset's card, such as its licence. Raises FormatError."""
    with _asking(hub, revision) as api:
        card = api.dataset_info(hub, revision=revision).card_data
        return dict(card.to_dict()) if card else {}


def files_of(hub: str, revision: str) -> list[str]:
    """Return the paths of a dataset's files. Raises FormatError."""
    with _asking(hub, revision) as api:
        return sorted(api.list_repo_files(hub, repo_type="dataset", revision=revision))


def fetched(hub: str, revision: str, patterns: Sequence[str]) -> tuple[Path, list[str]]:
    """Fetch those files of a dataset that match a pattern and are not in the cache yet.

    Returns:
        The folder that holds them, and the paths of all that the dataset has.

    Raises:
        FormatError: the hub does not answer, or shows no such dataset.
    """
    from huggingface_hub import get_cached_repo_tree, snapshot_download

    where: dict[str, Any] = {"repo_type": "dataset", "revision": revision}
    with _asking(hub, revision):
        # Both keep the listing of a commit on disk, so that a second run asks the hub for nothing.
        folder = Path(snapshot_download(hub, allow_patterns=list(patterns), **where))
        return folder, sorted(file.path for file in get_cached_repo_tree(hub, **where))


def exists(hub: str) -> bool:
    """Return whether the hub has a dataset of this name. Raises FormatError without an answer."""
    with _asking(hub, "main") as api:
        return bool(api.repo_exists(hub, repo_type="dataset"))


def configs_of(hub: str, revision: str) -> list[str]:
    """Return the configurations of a dataset; none if only its script defines them.

    Scripts are not run.

    Raises:
        FormatError: there is no such dataset, it has no data, or the hub does not answer.
    """
    from datasets import get_dataset_config_names

    with _asking(hub, revision):
        try:
            return list(get_dataset_config_names(hub, revision=revision))
        except RuntimeError as error:
            if "Dataset scripts are no longer supported" in str(error):
                return []
            raise


def splits_of(hub: str, revision: str, config: str) -> dict[str, list[str]]:
    """Return the splits of a configuration and the paths of their files. Raises FormatError."""
    from datasets import load_dataset_builder

    with _asking(hub, revision):
        builder = load_dataset_builder(hub, config, revision=revision)
        start = f"hf://datasets/{hub}@{revision}/"
        files = builder.config.data_files or {}
        return {str(split): [p.removeprefix(start) for p in files[split]] for split in files}


@contextmanager
def _asking(hub: str, revision: str) -> Iterator[Any]:
    """Yield the hub's API; raise FormatError for any error of the libraries, which list none."""
    from huggingface_hub import HfApi

    # It warns of a missing card and a missing login.
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    try:
        yield HfApi()
    except BearsError:
        raise
    except Exception as error:
        what = type(error).__name__
        raise FormatError(
            f"the hub's dataset {hub} at {revision} cannot be read: {first_line(error)} ({what}). "
            "Check hub and revision; for a private or gated dataset set HF_TOKEN. Files that were "
            "received whole are kept, and the next run fetches the rest. Without a network take "
            "its files from a folder: -S mirror=FOLDER"
        ) from None
