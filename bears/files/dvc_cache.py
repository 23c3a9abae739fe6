"""The folder of DVC's cache."""

from pathlib import Path


def cache_folder(root: Path) -> Path:
    """Return the folder of DVC's cache, from its configuration."""
    try:
        from dvc.config import Config

        configured = Config(dvc_dir=str(root / ".dvc"))["cache"].get("dir")
    except Exception:  # `doctor` reports what is wrong with DVC or its configuration.
        configured = None
    return Path(configured or root / ".dvc" / "cache")
