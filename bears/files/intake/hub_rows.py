"""Datasets on the hub, a row at a time, as the library ``datasets`` streams them.

HF_ENDPOINT in the environment names another hub than huggingface.co, HF_TOKEN a key for what is not
public. The library is imported where it is used: that takes more than a second.
"""

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from bears.errors import BearsError, FormatError, first_line

NO_SCRIPTS = "Dataset scripts are no longer supported"


def commit_of(hub: str, revision: str = "main") -> str:
    """The commit that a branch of a dataset is at now. Raises FormatError."""
    from huggingface_hub import HfApi

    with _asking(hub, revision):
        return str(HfApi().dataset_info(hub, revision=revision).sha)


def card_of(hub: str, revision: str) -> dict[str, Any]:
    """What the card of a dataset says of its licence, languages and so on. Raises FormatError."""
    from huggingface_hub import HfApi

    with _asking(hub, revision):
        card = HfApi().dataset_info(hub, revision=revision).card_data
        return dict(card.to_dict()) if card else {}  # type: ignore[no-untyped-call]


def files_of(hub: str, revision: str) -> list[str]:
    """The paths of a dataset's files. Raises FormatError."""
    from huggingface_hub import HfApi

    with _asking(hub, revision):
        return sorted(HfApi().list_repo_files(hub, repo_type="dataset", revision=revision))


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
    """Whether the hub shows a dataset of this name. Raises FormatError where it does not answer."""
    from huggingface_hub import HfApi

    with _asking(hub, "main"):
        return HfApi().repo_exists(hub, repo_type="dataset")


def configs_of(hub: str, revision: str) -> list[str]:
    """The configurations of a dataset; none where only a script knows, which is never run.

    Raises:
        FormatError: there is no such dataset, it has no data, or the hub does not answer.
    """
    from datasets import get_dataset_config_names

    with _asking(hub, revision):
        try:
            return list(get_dataset_config_names(hub, revision=revision))
        except RuntimeError as error:
            if NO_SCRIPTS in str(error):
                return []
            raise


def splits_of(hub: str, revision: str, config: str) -> list[str]:
    """The splits of a configuration. Raises FormatError."""
    from datasets import get_dataset_split_names

    with _asking(hub, revision):
        return list(get_dataset_split_names(hub, config, revision=revision))


def hub_rows(
    hub: str, revision: str, config: str, split: str
) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield each row of a split with its canonical JSON, of which a digest can be made.

    Cells of CSV are texts, as they stand in the file: ids may begin with zeros.

    Raises:
        FormatError: there is no such split, the hub does not answer, its files are damaged, or a
            row holds what is neither text, number, list nor object.
    """
    from datasets import Features, Value, load_dataset_builder

    with _asking(hub, revision):
        builder = load_dataset_builder(hub, config, revision=revision)
        if hasattr(builder.config, "keep_default_na"):
            # pandas would guess numbers, dates and what is missing.
            names = [*next(iter(builder.as_streaming_dataset(split=split)), ())]
            texts = Features({name: Value("string") for name in names})
            builder = load_dataset_builder(hub, config, revision=revision, features=texts)
            builder.config.keep_default_na = False
        for number, row in enumerate(builder.as_streaming_dataset(split=split), start=1):
            yield _line(row, f"{hub}, {config}/{split}, row {number}"), row


def _line(row: Any, where: str) -> bytes:
    try:
        text = json.dumps(row, ensure_ascii=False, sort_keys=True, default=_plain)
    except (TypeError, ValueError) as error:
        raise FormatError(f"{where}: it holds what is no JSON ({first_line(error)})") from None
    return text.encode() + b"\n"


def _plain(value: Any) -> str:
    if isinstance(value, date | time | Decimal):
        return str(value)
    raise TypeError(f"a value of type {type(value).__name__}")


@contextmanager
def _asking(hub: str, revision: str) -> Iterator[None]:
    """Whatever the libraries raise, as one sentence: they document no errors, and change them."""
    # It tells that a card is missing, and that nobody is logged in.
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    try:
        yield
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
