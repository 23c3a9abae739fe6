"""One truth for configuration: params.yaml selects, conf/ defines, this module composes."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from bears.config.arguments import check_arguments
from bears.config.named import named
from bears.config.secrets import refuse_secrets, without_secret
from bears.config.shape import Configuration
from bears.config.written_in import written_in
from bears.errors import ConfigurationError
from bears.files.addresses import without_passwords
from bears.files.intake.yaml_text import yaml_value
from bears.files.records import problems_of, write_text

RETRIEVAL = "bears.retrieval"
"""The room of what most configurations have built."""

LEDGER = ("replacements", "edits", "reviews", "judgements")
"""The parts of conf/ledger/<benchmark>.yaml."""

RESOLVERS = (
    *("oc.create", "oc.decode", "oc.deprecated", "oc.dict.keys", "oc.dict.values", "oc.env"),
    *("oc.select", "hydra", "now", "python_version"),
)
"""What OmegaConf and Hydra could put into a text: the environment, the time, the machine. No
configuration needs it, and a key would end in a file that is in git."""

UNWRAPPED = (ValueError, TypeError, LookupError, AttributeError, AssertionError)
"""What Hydra lets through of odd values for its own words."""

KEYS = (
    "a key comes from an environment variable or from .env, and the setting api_key_env holds the "
    "name of that variable"
)

Config = dict[str, Any]
T = TypeVar("T")


def checkout() -> Path:
    """The user's own checkout, also from within a temporary or queued experiment of DVC."""
    return Path(os.environ.get("DVC_ROOT") or Path.cwd())


def read_selection(params: Path) -> Config:
    """Read params.yaml: one word for each group of conf/, ``mirror``, and ``overrides``.

    Raises:
        ConfigurationError: the file is absent or not a mapping, a word is none, or ``overrides``
            is not a list of strings.
        FormatError: as `read_mapping`.
    """
    selection = read_mapping(params, "run from the project's root")
    overrides = selection.get("overrides", [])
    if not isinstance(overrides, list) or not all(isinstance(item, str) for item in overrides):
        raise ConfigurationError(
            f"{params}: overrides is {overrides!r:.80}; expected a list of Hydra overrides such as "
            "['sample.seed=7']"
        )
    for key, word in selection.items():
        # An empty value is how YAML writes that there is no mirror.
        may_be = {"overrides": list, "mirror": str | None}.get(key, str)
        if not isinstance(word, may_be):
            raise ConfigurationError(
                f"{params}: {key} is {word!r:.80}; expected a word, in quotation marks where YAML "
                "takes it for something else"
            )
    return selection


def read_mapping(path: Path, if_absent: str = "") -> Config:
    """Read a YAML file that holds a mapping of names.

    Args:
        if_absent: how to mend that it is absent or empty; "": that is an empty mapping.

    Raises:
        ConfigurationError: it is absent, or holds no mapping.
        FormatError: as `yaml_value`.
    """
    if not (path.exists() or path.is_symlink()):
        if not if_absent:
            return {}
        raise ConfigurationError(f"{path}: no such file; {if_absent}")
    mapping = yaml_value(path)
    if mapping is None and not if_absent:
        return {}
    if not isinstance(mapping, dict) or not all(isinstance(name, str) for name in mapping):
        raise ConfigurationError(f"{path}: expected a mapping of names to values")
    return mapping


def write_yaml(path: Path, value: Mapping[str, Any]) -> None:
    """Write a YAML file whole or not at all; keys keep their order."""
    write_text(path, yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100))


def compose(conf: Path, selection: Mapping[str, Any], overrides: Sequence[str] = ()) -> Config:
    """Compose the whole configuration with Hydra.

    Args:
        conf: the folder that holds ``config.yaml`` and the groups.
        selection: the content of params.yaml.
        overrides: more Hydra overrides; later ones win.

    Returns:
        Plain dicts, lists and scalars. Settings that name others (``${a.b}``) are resolved;
        ``ledger`` is as it was written, and ``written_in`` what `written_in` gives.

    Raises:
        ConfigurationError: a choice does not exist (the message lists those that do), an
            override does not fit, a mandatory value is missing, or a value is a secret.
        FormatError: a file below ``conf`` is refused, as `yaml_value`.
    """
    # Hydra takes a third of a second to import, and only this function needs it.
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    for file in conf.rglob("[!.]*.yaml"):
        # Hydra would read it without any bound.
        _check(file, file.lstat().st_mtime_ns)
    words = [f"{key}={_quoted(value)}" for key, value in selection.items() if key != "overrides"]
    words += [*selection.get("overrides", []), *overrides]
    try:
        with initialize_config_dir(str(conf.resolve()), version_base="1.3"):
            for resolver in RESOLVERS:
                OmegaConf.clear_resolver(resolver)
            composed = hydra_compose("config", overrides=words)
        resolved = OmegaConf.to_container(composed, resolve=True, throw_on_missing=True)
    except (HydraException, OmegaConfBaseException, yaml.YAMLError, *UNWRAPPED) as error:
        raise _refusal(error, selection.get("overrides", [])) from None
    assert isinstance(resolved, dict)
    refuse_secrets(resolved)
    config = {str(key): value for key, value in resolved.items()}
    parse(Configuration, config, "")
    tag = config["benchmark"]["language"]
    selected = config["language"]["name"] == tag or not re.fullmatch(r"[\w-]+", tag)
    profile = config["language"] if selected else read_mapping(conf / "language" / f"{tag}.yaml")
    return {
        **config,
        "ledger": read_ledger(conf / "ledger" / f"{config['benchmark']['name']}.yaml"),
        "written_in": written_in(tag, profile),
    }


def _refusal(error: Exception, overrides: Sequence[str]) -> ConfigurationError:
    from omegaconf.errors import UnsupportedInterpolationType

    # Where it looked is the same for everybody, and what is appended with + nothing reads.
    told = re.split(r"\n(?:Config search path:|To append to your)", str(error))[0]
    cause = f" ({error.__cause__})" if error.__cause__ else ""
    if "not in struct" in cause:
        cause = " No setting has that name; the files of conf/ list them."
    remedy = ""
    if overrides:
        # DVC leaves the overrides of an experiment there, and the next one may not know their key.
        shown = [without_secret(item) for item in overrides]
        remedy = f"\nparams.yaml has overrides: {shown}; -S 'overrides=[]' drops them"
    if isinstance(error, UnsupportedInterpolationType):
        remedy = f". Only other settings can be named so, as ${{a.b}}; {KEYS}{remedy}"
    return ConfigurationError(without_passwords(f"{told}{cause}{remedy}"))


@cache
def _check(file: Path, _modified_ns: int) -> None:
    yaml_value(file)


def read_ledger(path: Path) -> Config:
    """What persons decided, read as plain data: nothing in their texts is resolved.

    Args:
        path: of a file of the parts in `LEDGER`; without one, nothing was decided.

    Raises:
        ConfigurationError: it is no mapping, or has a part that no ledger has.
        FormatError: as `yaml_value`.
    """
    found = read_mapping(path)
    if unknown := [part for part in found if part not in LEDGER]:
        raise ConfigurationError(
            f"{path} has {', '.join(unknown)}; the parts of a ledger are {', '.join(LEDGER)}"
        )
    return {part: found.get(part) or [] for part in LEDGER}


def _quoted(value: Any) -> str:
    """``value`` as Hydra's grammar of overrides reads it back: a text stays a text."""
    from hydra.core.override_parser.types import Quote, QuotedString

    if isinstance(value, str):
        return QuotedString(text=value, quote=Quote.single).with_quotes()
    return "null" if value is None else str(value)


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
        shape: a dataclass; a `Closed` one.
        value: what the configuration holds at ``where``.

    Raises:
        ConfigurationError: naming each value that does not fit.
    """
    try:
        return TypeAdapter(shape).validate_python(value)
    except ValidationError as error:
        raise ConfigurationError(problems_of(error, where)) from None


def build(value: Mapping[str, Any], where: str, room: str = RETRIEVAL) -> Any:
    """Call the class of ``room`` that ``value["_target_"]`` names, with the other values.

    Its ``name`` is left out: it is the configuration's. Parts that have a ``_target_`` are built
    first.

    Raises:
        ConfigurationError: there is no such class, or it refuses the arguments.
    """
    made = named(value.get("_target_"), room, f"{where}._target_")
    settings = {
        key: _built(part, f"{where}.{key}", room)
        for key, part in value.items()
        if key not in ("_target_", "name")
    }
    check_arguments(made, settings, where)
    try:
        return made(**settings)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{where}: {error}") from None


def _built(part: Any, where: str, room: str) -> Any:
    if isinstance(part, Mapping):
        if "_target_" in part:
            return build(part, where, room)
        return {key: _built(inner, f"{where}.{key}", room) for key, inner in part.items()}
    if isinstance(part, list):
        return [_built(inner, f"{where}.{place}", room) for place, inner in enumerate(part)]
    return part
