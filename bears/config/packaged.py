"""The differences between an installed package and a checkout."""

from functools import cache
from pathlib import Path

from bears.errors import ConfigurationError
from bears.layout import CONF, PARAMS

PACKAGE = Path(__file__).parents[1]


@cache
def conf_folder() -> tuple[Path, Path]:
    """Return conf/ and params.yaml of the installed package, or of the checkout.

    Raises:
        ConfigurationError: they are missing.
    """
    for conf, selection in (
        (PACKAGE / CONF, PACKAGE / CONF / PARAMS),
        (PACKAGE.parent / CONF, PACKAGE.parent / PARAMS),
    ):
        if conf.is_dir() and selection.is_file():
            return conf, selection
    raise ConfigurationError(f"{PACKAGE / CONF} is missing: install the package again")


def install_command(extra: str) -> str:
    """Return the command that installs the packages of ``extra``, in backticks."""
    installed = (PACKAGE / CONF).is_dir()
    return f'`pip install "bears-bench[{extra}]"`' if installed else f"`make {extra}`"
