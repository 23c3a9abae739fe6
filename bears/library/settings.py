"""The pipeline's configuration as a library takes it."""

from collections.abc import Sequence

from bears.config import Config, compose, read_selection
from bears.config.packaged import conf_folder


def settings(retriever: str, language: str, overrides: Sequence[str]) -> Config:
    """Return the pipeline's configuration with a retriever, for texts of a language.

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
