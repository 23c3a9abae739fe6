"""The configuration that the package carries, for use outside of the project."""

from functools import cache
from pathlib import Path

from bears.errors import ConfigurationError

PACKAGE = Path(__file__).parents[1]


@cache
def conf_folder() -> tuple[Path, Path]:
    """conf/ and params.yaml: those that an installed package carries, or those of the checkout.

    Raises:
        ConfigurationError: there are neither.
    """
    for conf, selection in (
        (PACKAGE / "conf", PACKAGE / "conf" / "params.yaml"),
        (PACKAGE.parent / "conf", PACKAGE.parent / "params.yaml"),
    ):
        if conf.is_dir() and selection.is_file():
            return conf, selection
    raise ConfigurationError(f"{PACKAGE / 'conf'} is missing: install the package again")
