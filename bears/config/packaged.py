"""What differs between an installed package and a checkout."""

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


def install_command(extra: str) -> str:
    """Return the command that installs the packages of ``extra``, in backticks."""
    installed = (PACKAGE / "conf").is_dir()
    return f'`pip install "bears-bench[{extra}]"`' if installed else f"`make {extra}`"
