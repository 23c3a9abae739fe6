"""What every stage program does around its own work.

A stage's paths are the ``--name path`` pairs of its ``cmd`` in dvc.yaml; its configuration is
what it names there under ``params``, and the language where that file is among its ``deps``. So
dvc.yaml cannot drift from the code: a key that is not declared is not there.
"""

import shlex
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, NoReturn

from bears.configuration import (
    Config,
    compose,
    pick,
    read_mapping,
    read_selection,
    read_yaml,
)
from bears.errors import BearsError, ConfigurationError

CONFIG = Path("data/config.yaml")
LANGUAGE = Path("data/language.yaml")
"""What is under ``language``. `CONFIG` has its name alone: a language is longer than all the rest,
and DVC parses what stands under params a dozen times in every run."""
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
        names = {group: config[group]["name"] for group in GROUPS}
        texts = [defined["cmd"], *defined["deps"]]
        command, *inputs = (Template(text).substitute(names) for text in texts)
        known, _ = _split(shlex.split(command)[3:])
        if unknown := paths.keys() - known.keys():
            raise ConfigurationError(
                f"unknown option --{', --'.join(sorted(unknown))}; "
                f"expected --{', --'.join(known)} or Hydra overrides"
            )
        paths = {**known, **paths}
        _check_inputs(stage, [Path(path) for path in inputs], known, paths)
        main(pick(config, _keys(defined), str(CONFIG)), paths)
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


def _check_inputs(stage: str, inputs: Container[Path], known: Paths, paths: Paths) -> None:
    """DVC looks after the inputs of its own runs; a run by hand can come too early."""
    for name, path in paths.items():
        if known[name] in inputs and not path.exists():
            raise ConfigurationError(
                f"--{name}: {path} does not exist yet; `dvc repro {stage}` makes it first"
            )


def _keys(defined: Mapping[str, Any]) -> list[str]:
    """The parts of the configuration that a stage names."""
    params = [item for item in defined.get("params", []) if isinstance(item, dict)]
    keys = [key for item in params for key in item.get(str(CONFIG), [])]
    return [*keys, "language"] if str(LANGUAGE) in defined["deps"] else keys


def _help(stage: str, doc: str) -> str:
    defined = definition(stage)
    usage = f"python -m stages.{stage} [hydra.override=value ...] [--path PATH ...]"
    return (
        f"{usage}\n\n{doc.strip()}\n\n"
        f"Reads from the configuration: {', '.join(_keys(defined)) or 'everything'}\n"
        f"Paths, as dvc.yaml gives them:\n  {defined['cmd'].split(' ', 3)[3]}"
    )
