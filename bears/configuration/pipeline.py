"""What every stage program does around its own work.

A stage's paths are the ``--name path`` pairs of its ``cmd`` in dvc.yaml; its configuration is
what it names there under ``params``, by itself or by its digest, and nothing else. So dvc.yaml
cannot drift from the code: a key that is not declared is not there.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from bears.configuration import (
    Config,
    compose,
    pick,
    read_mapping,
    read_selection,
    read_yaml,
)
from bears.configuration.digests import CODE, PREFIX, digest
from bears.errors import BearsError, ConfigurationError

CONFIG = Path("data/config.yaml")
LANGUAGE = Path("data/language.yaml")
"""What is under ``language``. `CONFIG` has its name alone: DVC parses that file in every stage, and
a language is longer than all the rest."""
GROUPS = (
    "benchmark",
    "retriever",
    "vector_store",
    "chunking",
    "engine",
    "translator",
    "language",
)
Paths = Mapping[str, Path]


def run(stage: str, main: Callable[[Config, Paths], None], argv: Sequence[str]) -> int:
    """Run one stage and return its exit status.

    Args:
        stage: its name in dvc.yaml.
        main: takes the stage's part of the configuration and its paths.
        argv: Hydra overrides (``sample.seed=7``) and paths (``--out DIR``); both are for runs by
            hand, what is not given is what dvc.yaml says.
    """
    try:
        if {"-h", "--help"} & set(argv):
            print(_help(stage, main.__doc__ or ""))
            return 0
        paths, overrides = _split(argv)
        defined = definition(stage)
        config = load_config(overrides)
        known = _paths(defined, {name: config[name]["name"] for name in GROUPS})
        if unknown := paths.keys() - known.keys():
            raise ConfigurationError(
                f"unknown option --{', --'.join(sorted(unknown))}; "
                f"expected --{', --'.join(known)} or Hydra overrides"
            )
        _check_inputs(stage, defined, {**known, **paths})
        part = pick(config, _keys(defined), str(CONFIG))
        if not overrides:
            _check_digests(config, defined)
        main(part, {**known, **paths})
    except BearsError as error:
        print(f"{stage}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{stage}: interrupted; finished outputs of earlier stages are kept", file=sys.stderr)
        return 130
    return 0


def exit_with(stage: str, main: Callable[[Config, Paths], None]) -> NoReturn:
    """Run a stage as a program."""
    sys.exit(run(stage, main, sys.argv[1:]))


def load_config(overrides: Sequence[str] = ()) -> Config:
    """The whole configuration: what `config` wrote, or freshly composed when there are overrides.

    Raises:
        ConfigurationError: there is no composed configuration yet, or it cannot be composed.
    """
    if overrides:
        return compose(Path("conf"), read_selection(Path("params.yaml")), overrides)
    first = "run `dvc repro config` first"
    return {**read_mapping(CONFIG, first), "language": read_mapping(LANGUAGE, first)}


def _split(argv: Sequence[str]) -> tuple[dict[str, Path], list[str]]:
    paths: dict[str, Path] = {}
    overrides: list[str] = []
    words = iter(argv)
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            path = value if equals else next(words, "")
            if not path:
                raise ConfigurationError(f"--{name} needs a path")
            paths[name] = Path(path)
        else:
            overrides.append(word)
    return paths, overrides


def definition(stage: str) -> dict[str, Any]:
    """What dvc.yaml says of a stage.

    Raises:
        ConfigurationError: there is no dvc.yaml here.
    """
    file = Path("dvc.yaml")
    if not file.is_file():
        raise ConfigurationError(f"no dvc.yaml in {Path.cwd()}; run from the project's root")
    found = read_yaml(file)["stages"][stage]
    assert isinstance(found, dict)
    return found


def _paths(defined: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Path]:
    command = re.sub(r"\$\{(\w+)\}", lambda match: names[match[1]], defined["cmd"])
    return _split(shlex.split(command)[3:])[0]


def _check_inputs(stage: str, defined: Mapping[str, Any], paths: Paths) -> None:
    """DVC looks after the inputs of its own runs; a run by hand can come too early."""
    words = shlex.split(defined["cmd"])[3:]
    inputs = {name[2:] for name, path in pairwise(words) if path in defined["deps"]}
    for name, path in paths.items():
        if name in inputs and not path.exists():
            raise ConfigurationError(
                f"--{name}: {path} does not exist yet; `dvc repro {stage}` makes it first"
            )


def _check_digests(config: Config, defined: Mapping[str, Any]) -> None:
    # Who runs a stage by hand may be trying code that they have just written.
    code = shared_code() if "DVC_STAGE" in os.environ else []
    recorded = config.get("digest", {})
    for key in _declared(defined):
        name = key.removeprefix(PREFIX)
        if name == key or (key == CODE and not code):
            continue
        if recorded.get(name) != digest(name, config, code):
            what = ", ".join(map(str, code)) if key == CODE else name
            raise ConfigurationError(
                f"{CONFIG} was written for another state of {what}; run `dvc repro config` first"
            )


def shared_code() -> list[Path]:
    """What `digest.code` stands for."""
    return [Path(each) for each in definition("config")["deps"] if each.startswith("bears/")]


def _declared(defined: Mapping[str, Any]) -> list[str]:
    """What a stage names of data/config.yaml under params."""
    params = [item for item in defined.get("params", []) if isinstance(item, dict)]
    return [key for item in params for key in item.get(str(CONFIG), [])]


def _keys(defined: Mapping[str, Any]) -> list[str]:
    """The parts of the configuration that a stage names, by themselves or by their digest."""
    return sorted(key.removeprefix(PREFIX) for key in _declared(defined) if key != CODE)


def _help(stage: str, doc: str) -> str:
    defined = definition(stage)
    usage = f"python -m stages.{stage} [hydra.override=value ...] [--path PATH ...]"
    return (
        f"{usage}\n\n{doc.strip()}\n\n"
        f"Reads from the configuration: {', '.join(_keys(defined)) or 'everything'}\n"
        f"Paths, as dvc.yaml gives them:\n  {defined['cmd'].split(' ', 3)[3]}"
    )
