"""One truth for configuration: params.yaml selects, conf/ defines, this module composes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ConfigDict, TypeAdapter, ValidationError

from bears.errors import ConfigurationError

Config = dict[str, Any]
T = TypeVar("T")

STRICT = ConfigDict(extra="forbid")
"""What a dataclass that `parse` builds sets as ``__pydantic_config__``: no unknown keys."""


def read_selection(params: Path) -> Config:
    """Read params.yaml: one word for each group of conf/, ``mirror``, and ``overrides``.

    Raises:
        ConfigurationError: the file is absent or not a mapping, or ``overrides`` is not a list
            of strings.
    """
    try:
        selection = yaml.safe_load(params.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigurationError(f"{params}: no such file; run from the project's root") from None
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{params}: not valid YAML ({error})") from None
    if not isinstance(selection, dict):
        raise ConfigurationError(f"{params}: expected a mapping of names to choices")
    overrides = selection.get("overrides", [])
    if not isinstance(overrides, list) or not all(isinstance(item, str) for item in overrides):
        raise ConfigurationError(
            f"{params}: overrides is {overrides!r}; expected a list of Hydra overrides such as "
            "['sample.seed=7']"
        )
    return selection


def compose(conf: Path, selection: Mapping[str, Any], overrides: Sequence[str] = ()) -> Config:
    """Compose the whole configuration with Hydra.

    Args:
        conf: the folder that holds ``config.yaml`` and the groups.
        selection: the content of params.yaml.
        overrides: more Hydra overrides; later ones win.

    Returns:
        Plain dicts, lists and scalars with every interpolation resolved.

    Raises:
        ConfigurationError: a choice does not exist (the message lists those that do), an
            override does not fit, or a mandatory value is missing.
    """
    # Hydra takes a third of a second to import, and only this function needs it.
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    words = [f"{key}={_quoted(value)}" for key, value in selection.items() if key != "overrides"]
    words += [*selection.get("overrides", []), *overrides]
    try:
        with initialize_config_dir(str(conf.resolve()), version_base="1.3"):
            composed = hydra_compose("config", overrides=words)
        resolved = OmegaConf.to_container(composed, resolve=True, throw_on_missing=True)
    except (HydraException, OmegaConfBaseException) as error:
        cause = f" ({error.__cause__})" if error.__cause__ else ""
        raise ConfigurationError(f"{error}{cause}") from None
    assert isinstance(resolved, dict)
    return {str(key): value for key, value in resolved.items()}


def _quoted(value: Any) -> str:
    if isinstance(value, str) and not value.replace("-", "").replace("_", "").isalnum():
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return str(value)


def pick(config: Mapping[str, Any], keys: Iterable[str], where: str) -> Config:
    """The part of ``config`` below the given dotted keys.

    Raises:
        ConfigurationError: a key is missing.
    """
    part: Config = {}
    for key in keys:
        source: Any = config
        target = part
        *parents, last = key.split(".")
        try:
            for name in parents:
                source, target = source[name], target.setdefault(name, {})
            target[last] = source[last]
        except (KeyError, TypeError):
            raise ConfigurationError(
                f"{where} has no key {key}; compose it again with `dvc repro config`"
            ) from None
    return part


def parse(shape: type[T], value: Any, where: str) -> T:
    """Build the dataclass ``shape`` from plain values, refusing wrong types and unknown keys.

    Args:
        shape: a dataclass; it sets ``__pydantic_config__`` to `STRICT`.
        value: what the configuration holds at ``where``.

    Raises:
        ConfigurationError: naming each value that does not fit.
    """
    try:
        return TypeAdapter(shape).validate_python(value)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join([where, *map(str, item['loc'])])}: {item['msg']}, found {item['input']!r}"
            for item in error.errors(include_url=False)
        )
        raise ConfigurationError(problems) from None
