"""What every stage program does around its own work.

A stage's paths are the ``--name path`` pairs of its ``cmd`` in dvc.yaml; its configuration is
what it names there under ``params``, and the language where that file is among its ``deps``. So
dvc.yaml cannot drift from the code: a key that is not declared is not there.
"""

import shlex
import sys
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, NoReturn, get_type_hints

from bears.config import (
    Config,
    compose,
    parse,
    pick,
    read_mapping,
    read_selection,
)
from bears.config.edge import ended
from bears.config.guard import CONFIG, StageFiles, guarded
from bears.config.shape import BenchmarkPart, Chosen, Configuration, Pipeline
from bears.errors import ConfigurationError
from bears.files.progress import reported

LANGUAGE = Path("data/language.yaml")
"""What is under ``language``. `CONFIG` has its name alone: a language is longer than all the rest,
and DVC parses what stands under params a dozen times in every run."""
CODE = Path("data/code.yaml")
GROUPS = tuple(
    k for k, kind in get_type_hints(Configuration).items() if kind in (BenchmarkPart, Chosen)
)
Paths = Mapping[str, Path]


def run(
    stage: str,
    main: Callable[[Config, Paths], None],
    argv: Sequence[str],
    updates: Collection[str] = (),
) -> int:
    """Run one stage and return its exit status.

    Args:
        stage: its name in dvc.yaml.
        main: takes the stage's part of the configuration and its paths.
        argv: Hydra overrides (``sample.seed=7``) and paths (``--out DIR``); both are for runs by
            hand, what is not given is what dvc.yaml says.
        updates: options of inputs that the stage may write to as well.

    Returns:
        As `ended`.
    """
    return ended(stage, lambda: _run(stage, main, argv, updates))


def _run(
    stage: str,
    main: Callable[[Config, Paths], None],
    argv: Sequence[str],
    updates: Collection[str],
) -> None:
    if {"-h", "--help"} & set(argv):
        print(_help(stage, main.__doc__ or ""))
        return
    paths, overrides = _split(argv)
    stages = _definitions()
    config = load_config(overrides)
    names = {group: config[group]["name"] for group in GROUPS}
    stages = {each: _with_names(defined, names) for each, defined in stages.items()}
    defined = stages[stage]
    known, _ = _split(shlex.split(defined["cmd"])[3:])
    if unknown := paths.keys() - known.keys():
        raise ConfigurationError(
            f"unknown option --{', --'.join(sorted(unknown))}; "
            f"expected --{', --'.join(known)} or Hydra overrides"
        )
    paths = {**known, **paths}
    _check_inputs(stage, defined["deps"], known, paths)
    files = _files(stages, stage, known, paths, updates)
    with reported(stage), guarded(stage, files):
        main(pick(config, _keys(defined), str(CONFIG)), paths)


def exit_with(
    stage: str, main: Callable[[Config, Paths], None], updates: Collection[str] = ()
) -> NoReturn:
    """Run a stage as a program; arguments as for `run`."""
    sys.exit(run(stage, main, sys.argv[1:], updates))


def load_config(overrides: Sequence[str] = ()) -> Config:
    """The whole configuration: what `config` wrote, or freshly composed when there are overrides.

    Raises:
        ConfigurationError: there is no composed configuration yet, or it cannot be composed.
    """
    if overrides:
        return compose(Path("conf"), read_selection(Path("params.yaml")), overrides)
    first = "run `dvc repro config` first"
    config = {**read_mapping(CONFIG, first), "language": read_mapping(LANGUAGE, first)}
    parse(Configuration, config, str(CONFIG))
    return config


def configuration_of_stages(config: Config) -> dict[str, Config]:
    """Return the part of the configuration that each stage but `config` reads, as dvc.yaml says."""
    return {
        stage: pick(config, _keys(defined), "the composed configuration")
        for stage, defined in _definitions().items()
        if stage != "config"
    }


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


def _definitions() -> dict[str, Any]:
    """What dvc.yaml says of each stage.

    Raises:
        ConfigurationError: there is no dvc.yaml here, or it is none.
        FormatError: as `read_mapping`.
    """
    file = Path("dvc.yaml")
    if not file.is_file():
        raise ConfigurationError(f"no dvc.yaml in {Path.cwd()}; run from the project's root")
    pipeline = read_mapping(file, "")
    parse(Pipeline, pipeline, str(file))
    stages: dict[str, Any] = pipeline["stages"]
    return stages


def _with_names(value: Any, names: Mapping[str, str]) -> Any:
    """What dvc.yaml says, with the chosen words in its paths."""
    if isinstance(value, dict):
        return {key: _with_names(part, names) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_names(part, names) for part in value]
    try:
        return Template(value).substitute(names) if isinstance(value, str) else value
    except (KeyError, ValueError) as error:
        expected = ", ".join(f"${{{name}}}" for name in names)
        raise ConfigurationError(
            f"dvc.yaml: {value!r:.80} names {error}; expected one of {expected}"
        ) from None


def _files(
    stages: Mapping[str, Any], stage: str, known: Paths, paths: Paths, updates: Collection[str]
) -> StageFiles:
    """What a stage reads and writes, by dvc.yaml and by the paths that it was given."""
    deps, outs = stages[stage]["deps"], stages[stage].get("outs", [])
    made = {
        Path(out)
        for defined in stages.values()
        for out in defined.get("outs", [])
        if isinstance(out, str)
    }
    read = {name: path for name, path in known.items() if str(path) in deps}
    outputs = [name for name, path in read.items() if not made.isdisjoint([path, *path.parents])]
    given = {str(path): paths[name] for name, path in known.items()}
    fixed = [dep for dep in deps if not any(str(known[name]) == dep for name in updates)]
    return StageFiles(
        reads={name: paths[name] for name in outputs},
        promised={name for name in outputs if paths[name] == known[name]},
        sealed=[paths[name] for name, path in known.items() if str(path) in outs],
        writes=[paths[name] for name in known if name not in read or name in updates],
        watched=[CONFIG, *(given.get(dep, Path(dep)) for dep in fixed)],
    )


def _check_inputs(stage: str, inputs: Container[str], known: Paths, paths: Paths) -> None:
    """DVC looks after the inputs of its own runs; a run by hand can come too early."""
    for name, path in paths.items():
        if str(known[name]) in inputs and not path.exists():
            raise ConfigurationError(
                f"--{name}: {path} does not exist yet; `dvc repro {stage}` makes it first"
            )


def _keys(defined: Mapping[str, Any]) -> list[str]:
    """The parts of the configuration that a stage names."""
    params = [item for item in defined.get("params", []) if isinstance(item, dict)]
    keys = [key for item in params for key in item.get(str(CONFIG), [])]
    return [*keys, "language"] if str(LANGUAGE) in defined["deps"] else keys


def _help(stage: str, doc: str) -> str:
    defined = _definitions()[stage]
    usage = f"python -m stages.{stage} [hydra.override=value ...] [--path PATH ...]"
    return (
        f"{usage}\n\n{doc.strip()}\n\n"
        f"Reads from the configuration: {', '.join(_keys(defined)) or 'everything'}\n"
        f"Paths, as dvc.yaml gives them:\n  {defined['cmd'].split(' ', 3)[3]}"
    )
