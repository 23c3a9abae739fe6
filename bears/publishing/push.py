"""Push an export to a dataset of the hub.

HF_TOKEN in the environment is the key, and HF_ENDPOINT names another hub than huggingface.co.
"""

from pathlib import Path

from bears.errors import ConfigurationError, first_line


def require_token() -> None:
    """Raise ConfigurationError without a token for the hub."""
    # The import takes a second, and only a push needs it.
    from huggingface_hub import get_token

    if get_token() is None:
        raise ConfigurationError("the hub takes nothing without a token; set HF_TOKEN to one")


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
