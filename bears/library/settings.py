"""The configuration that the package carries, for use outside of the project."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from bears.configuration import Config, compose, read_selection
from bears.errors import ConfigurationError

PACKAGE = Path(__file__).parents[1]


def settings(retriever: str, language: str, overrides: Sequence[str]) -> Config:
    """The pipeline's configuration with a retriever of conf/retriever, for texts of a language.

    Args:
        retriever: the name of its YAML file; empty: of no importance.
        language: a BCP 47 tag.
        overrides: Hydra overrides, such as ``retriever.k1=1.2`` or ``chunking=sentences``.

    Raises:
        ConfigurationError: one of them is not known; the message lists what is.
    """
    conf, selection = conf_folder()
    chosen = read_selection(selection) | {"benchmark": "mini", "overrides": []}
    if retriever:
        chosen |= {"retriever": retriever}
    return compose(conf, chosen, [f"benchmark.language={language}", *overrides])


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
