"""Compose the configuration: params.yaml selects choices, and conf/ defines them."""

import filecmp
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from bears.config.ledger.entries import Acceptances, Ledger
from bears.config.packaged import conf_folders, require_project
from bears.config.secrets import refuse_secrets
from bears.config.shape import BenchmarkIdentity, Choice, Configuration
from bears.config.typed import parse
from bears.errors import ConfigurationError
from bears.files.intake.files import read_text
from bears.files.intake.yaml_text import yaml_value
from bears.files.records import write_text
from bears.files.visible import without_passwords
from bears.layout import PARAMS

LEDGER = ("replacements", "edits", "reviews", "judgements", "labels", "nuggets")
"""The parts of conf/ledger/<benchmark>.yaml."""

AUTO = "auto"
"""The word in params.yaml that leaves a choice to the benchmark."""

RESOLVERS = (
    *("oc.create", "oc.decode", "oc.deprecated", "oc.dict.keys", "oc.dict.values", "oc.env"),
    *("oc.select", "hydra", "now", "python_version"),
)
"""The resolvers of OmegaConf and Hydra, which put the environment, the time or the machine into a
text. No configuration needs them, and a key would end up in a file in git."""

UNWRAPPED = (ValueError, TypeError, LookupError, AttributeError, AssertionError)
"""Exceptions that Hydra does not wrap."""

KEYS = (
    "a key comes from an environment variable or from .env, and the setting api_key_env holds the "
    "name of that variable"
)

WHOLE = frozenset({"_target_", "defaults", "shape"})
"""The keys of which one says that a file is complete, and has nothing from ours of that name."""

Config = dict[str, Any]


def checkout() -> Path:
    """Return the user's own checkout, also within a temporary or queued experiment of DVC."""
    return Path(os.environ.get("DVC_ROOT") or Path.cwd())


def root_of(path: str) -> Path:
    """Return the folder that a path of a source is relative to.

    Untracked files are only in the user's checkout.
    """
    return Path.cwd() if (Path.cwd() / path).exists() else checkout()


def read_selection(params: Path) -> Config:
    """Read params.yaml: one word for each group of conf/, ``mirror``, and ``overrides``.

    Raises:
        ConfigurationError: the file is missing or not a mapping, a choice is not a word, or
            ``overrides`` is not a list of strings.
        FormatError: the file is not YAML.
    """
    if params == PARAMS and not params.exists():
        require_project()
    selection = read_mapping(params, "restore it from git")
    overrides = selection.get("overrides", [])
    if not isinstance(overrides, list) or not all(isinstance(item, str) for item in overrides):
        raise ConfigurationError(
            f"{params}: overrides is {overrides!r:.80}; expected a list of Hydra overrides such as "
            "['sample.seed=7']"
        )
    for key, word in selection.items():
        # YAML reads an empty value, as of a missing mirror, as None.
        expected = {"overrides": list, "mirror": str | None}.get(key, str)
        if not isinstance(word, expected):
            raise ConfigurationError(
                f"{params}: {key} is {word!r:.80}; expected a word, in quotation marks if YAML "
                "takes it for something else"
            )
    return selection


def read_mapping(path: Path, if_absent: str = "") -> Config:
    """Read a YAML file that holds a mapping of names.

    Args:
        if_absent: advice for a missing or empty file; without advice, such a file counts as an
            empty mapping.

    Raises:
        ConfigurationError: the file is missing, or does not hold a mapping.
        FormatError: the file is not YAML.
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
    """Write a YAML file atomically; keys keep their order."""
    write_text(path, yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100))


def conf_text(value: Any) -> str:
    """Return a file of conf/ as YAML, in which every text stays what it is.

    OmegaConf quotes what it takes for a number, and would resolve ``${``.
    """
    from omegaconf import OmegaConf

    # A backslash before it would escape the escape.
    return OmegaConf.to_yaml(
        with_texts(value, lambda text: re.sub(r"(\\*)\$\{", r"\1\1\\${", text))
    )


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return plain values with every text in them changed, but for the names in mappings."""
    if isinstance(value, Mapping):
        return {key: with_texts(part, change) for key, part in value.items()}
    if isinstance(value, list):
        return [with_texts(part, change) for part in value]
    return change(value) if isinstance(value, str) else value


def compose(conf: Path, selection: Mapping[str, Any], overrides: Sequence[str] = ()) -> Config:
    """Compose the whole configuration with Hydra.

    Args:
        conf: the project's folder of groups; what it lacks comes from ours.
        selection: the content of params.yaml.
        overrides: more Hydra overrides; later ones win.

    Returns:
        Plain dicts, lists and scalars. References to other settings (``${a.b}``) are resolved, but
        not in the parts of the ledger. What a few stages read of a file is a key of its own, so
        that a change of it makes no others run: ``accepted`` and ``publication`` of the
        benchmark's, and each part of the ledger. ``written_in`` describes the benchmark's
        language, and ``translated_into`` is the selected one.

    Raises:
        ConfigurationError: a choice does not exist (the message lists those that do), an
            override does not fit, a mandatory value is missing, or a value is a secret.
        FormatError: a file below ``conf`` is not YAML.
    """
    # Hydra takes a third of a second to import, and only this function needs it.
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    folders = conf_folders(conf)
    for file in (file for folder in folders for file in folder.rglob("[!.]*.yaml")):
        # Hydra would read it without any bound.
        _check(file, file.lstat().st_mtime_ns)
    words = [
        f"{key}={_quoted(value)}"
        for key, value in selection.items()
        if key != "overrides" and value != AUTO
    ]
    words += [*selection.get("overrides", []), *overrides]
    *own, shipped = folders
    try:
        with (
            TemporaryDirectory() as completed,
            initialize_config_dir(str(shipped), version_base="1.3"),
        ):
            for folder in own:
                _complete(folder, shipped, Path(completed))
                path = GlobalHydra.instance().config_loader().get_search_path()
                path.prepend("project", str(folder), anchor="main")
                path.prepend("completed", completed, anchor="project")
                # Hydra reads a changed search path only if it has this word.
                words.append("hydra.searchpath=[]")
            for resolver in RESOLVERS:
                OmegaConf.clear_resolver(resolver)
            composed = hydra_compose("config", overrides=words)
        resolved = OmegaConf.to_container(composed, resolve=True, throw_on_missing=True)
    except (HydraException, OmegaConfBaseException, yaml.YAMLError, *UNWRAPPED) as error:
        raise _refusal(error, selection) from None
    assert isinstance(resolved, dict)
    refuse_secrets(resolved)
    benchmark = parse(BenchmarkIdentity, resolved["benchmark"], "benchmark")
    rest = {k: v for k, v in resolved["benchmark"].items() if k not in ("name", "language")}
    accepted = rest.pop("accept", None)
    parse(Acceptances, accepted, "benchmark.accept")
    ledger = read_ledger(conf / "ledger" / f"{benchmark.name}.yaml")
    parse(Ledger, ledger, "ledger")
    config = {str(key): value for key, value in resolved.items()}
    config |= {"benchmark": asdict(benchmark), "publication": rest, "accepted": accepted, **ledger}
    known = parse(Configuration, config, "")
    return {
        **config,
        "written_in": _written_in(conf, benchmark.language, known.language),
        "translated_into": known.language.name,
    }


def _complete(own: Path, shipped: Path, to: Path) -> None:
    """Write those files of a project that leave out keys of ours, with these keys."""
    from omegaconf import OmegaConf

    for file in own.rglob("[!.]*.yaml"):
        ours = shipped / file.relative_to(own)
        if not ours.is_file() or filecmp.cmp(file, ours, shallow=False):
            continue
        value = read_mapping(file)
        if value and WHOLE.isdisjoint(value):
            header = re.findall("^# @package .*\n", read_text(ours), re.M)
            merged = OmegaConf.merge(OmegaConf.load(ours), value)
            write_text(to / file.relative_to(own), "".join(header) + OmegaConf.to_yaml(merged))


def _written_in(conf: Path, tag: str, selected: Choice) -> dict[str, str]:
    """Return what prompts say about the language of a benchmark's texts.

    It need not be the selected language, into which texts are translated.
    """
    profile: Mapping[str, Any] = selected
    if selected.name != tag and re.fullmatch(r"[\w-]+", tag):
        files = [folder / "language" / f"{tag}.yaml" for folder in reversed(conf_folders(conf))]
        profile = {key: value for file in files for key, value in read_mapping(file).items()}
    prompt = profile.get("prompt")
    title = profile.get("title", "English" if tag == "en" else tag)
    return {
        "name": tag,
        "title": title,
        "native_name": profile.get("native_name", title),
        "variant": prompt.get("variant", "") if isinstance(prompt, Mapping) else "",
        "unanswerable": profile.get("unanswerable", "Unanswerable"),
    }


def _refusal(error: Exception, selection: Mapping[str, Any]) -> ConfigurationError:
    from omegaconf.errors import UnsupportedInterpolationType

    # Leave out Hydra's search path, and its advice to append a setting that nothing would read.
    problem = re.split(r"\n(?:Config search path:|To append to your)", str(error))[0]
    cause = f" ({error.__cause__})" if error.__cause__ else ""
    if "not in struct" in cause:
        cause = " No setting has that name; the files of conf/ list them."
        if any(f"'{name}'" in problem for name in selection):
            cause += f" If {PARAMS} has it from an earlier version of BEARS, run `bears upgrade`."
    remedy = ""
    if overrides := selection.get("overrides", []):
        # DVC leaves the overrides of an experiment there, and the next one may not have their keys.
        # A value may be a secret.
        names = ", ".join(item.partition("=")[0] for item in overrides)
        remedy = f"\nparams.yaml has overrides of {names}; -S 'overrides=[]' drops them"
    if isinstance(error, UnsupportedInterpolationType):
        remedy = f". Only other settings can be named so, as ${{a.b}}; {KEYS}{remedy}"
    return ConfigurationError(without_passwords(f"{problem}{cause}{remedy}"))


@cache
def _check(file: Path, _modified_ns: int) -> None:
    yaml_value(file)


def read_ledger(path: Path) -> Config:
    """Read people's decisions as plain data: nothing in their texts is resolved.

    Args:
        path: the ledger's file; if it is missing, nothing was decided.

    Raises:
        ConfigurationError: the file is not a mapping, or has an unknown part.
        FormatError: the file is not YAML.
    """
    found = read_mapping(path)
    if unknown := [part for part in found if part not in LEDGER]:
        raise ConfigurationError(
            f"{path} has {', '.join(unknown)}; the parts of a ledger are {', '.join(LEDGER)}"
        )
    return {part: found.get(part) or [] for part in LEDGER}


def ledger_in(config: Mapping[str, Any]) -> Config:
    """Return the parts of a ledger that a configuration has, as digests have them.

    Labels are of systems, not of a benchmark. Digests that were made before there were nuggets stay
    valid.
    """
    parts = {part: config[part] for part in LEDGER if part in config and part != "labels"}
    return {part: entries for part, entries in parts.items() if entries or part != "nuggets"}


def _quoted(value: Any) -> str:
    """Return ``value`` in Hydra's override grammar, in which a text stays a text."""
    from hydra.core.override_parser.types import Quote, QuotedString

    if isinstance(value, str):
        return QuotedString(text=value, quote=Quote.single).with_quotes()
    return "null" if value is None else str(value)
