"""Run a stage program: find its paths and settings, guard its files, report how it ended.

A stage's paths are the ``--name path`` pairs of its ``cmd`` in dvc.yaml. The other parameters of
its ``main`` are the keys of the configuration that dvc.yaml lists under its ``params``, and the
language if that file is among its ``deps``.

Inputs are checked against their manifests, and locked while they are read. Outputs get manifests,
unless an input has changed meanwhile or DVC has ended.
"""

import argparse
import hashlib
import os
import shlex
import sys
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, NoReturn, get_type_hints

from bears.config import Config, compose, read_mapping, read_selection, with_texts
from bears.config.edge import ended
from bears.config.packaged import STAGES, pipeline, require_project
from bears.config.shape import BenchmarkIdentity, Choice, Configuration
from bears.config.typed import configured, keys_of, parse, pick
from bears.errors import ConfigurationError, FormatError, StageConflict
from bears.files.intake.yaml_text import yaml_value
from bears.files.lock import locked
from bears.files.manifest import check, seal
from bears.layout import CONF, CONFIG, LANGUAGE, LOCKS, PARAMS, PIPELINE

PATIENCE_S = 30.0
State = dict[Path, tuple[int, int, int]]
UPDATED = "replies"
"""The option of an input that a stage may write to: with ``fill: auto``, it publishes replies."""
Paths = Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class StageFiles:
    """The files and folders of a stage.

    Args:
        reads: the outputs of other stages that it reads, by option.
        promised: the options of ``reads`` that have the path in dvc.yaml, and so a manifest.
        sealed: the outputs that get manifests.
        writes: everything that is written.
        watched: everything that must not change meanwhile.
    """

    reads: Mapping[str, Path]
    promised: Collection[str]
    sealed: Sequence[Path]
    writes: Sequence[Path]
    watched: Sequence[Path]


@contextmanager
def guarded(stage: str, files: StageFiles) -> Iterator[None]:
    """Check the inputs, let the stage work, and seal its outputs.

    Raises:
        FormatError: an input differs from its manifest, or has none.
        StageConflict: another process works on the same files, an input has changed meanwhile, or
            DVC, which started the stage, has ended.
    """
    parent, before = os.getppid(), _states(files.watched)
    with locked_paths([*files.reads.values(), CONFIG], files.writes, stage):
        _check_unchanged(before, files.watched)
        made_from = _checked(files)
        yield
        _check_unchanged(before, files.watched)
        # A shell between DVC and this process hides that DVC has ended; then only the lock helps.
        if "DVC_STAGE" in os.environ and os.getppid() != parent:
            raise StageConflict("DVC, which started this, has ended; run it again")
        seal(files.sealed, made_from)


@contextmanager
def locked_paths(reads: Iterable[Path], writes: Iterable[Path], stage: str) -> Iterator[None]:
    """Lock what is read against writers, and what is written against everyone.

    Reading a file also locks its folder, since a folder is written as a whole. The paths need not
    exist.

    Raises:
        StageConflict: another process has held one of the locks for `PATIENCE_S`.
    """
    written = {path.resolve() for path in writes}
    read = {place for path in reads for place in (path.resolve(), path.resolve().parent)}
    LOCKS.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        for path in sorted(read | written):
            place = LOCKS / hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
            shared = path not in written
            held.enter_context(locked(place, str(path), stage, shared, PATIENCE_S))
        yield


def _checked(files: StageFiles) -> dict[str, str]:
    """Return the digests of the inputs that have a manifest, by their options."""
    found = {}
    for option, path in files.reads.items():
        try:
            sha256 = check(path, option in files.promised)
        except FormatError as error:
            raise FormatError(f"--{option}: {error}") from None
        if sha256 is not None:
            found[option] = sha256
    return found


def _check_unchanged(before: State, watched: Sequence[Path]) -> None:
    after = _states(watched)
    if changed := sorted(path for path in before | after if before.get(path) != after.get(path)):
        raise StageConflict(
            f"{changed[0]} was changed while this ran, so its results may be of neither state; run "
            "it again"
        )


def _states(watched: Sequence[Path]) -> State:
    found: State = {}
    for top in watched:
        for path in [top, *top.rglob("*")]:
            if path.is_file() and path.parent.name != "__pycache__":
                status = path.stat()
                found[path] = (status.st_size, status.st_mtime_ns, status.st_ino)
    return found


GROUPS = tuple(
    k for k, kind in get_type_hints(Configuration).items() if kind in (BenchmarkIdentity, Choice)
)


def run(stage: str, main: Callable[..., None], argv: Sequence[str]) -> int:
    """Run one stage and return its exit status, as `ended` does.

    Args:
        stage: its name in dvc.yaml.
        main: takes the paths and, by name, the keys of the configuration that it reads.
        argv: Hydra overrides (``sample.seed=7``) and paths (``--out DIR``) for runs by hand; the
            other paths come from dvc.yaml.
    """
    return ended(stage, lambda: _run(stage, main, argv))


def exit_with(stage: str, main: Callable[..., None]) -> NoReturn:
    """Run a stage as a program; arguments as for `run`."""
    sys.exit(run(stage, main, sys.argv[1:]))


def _run(stage: str, main: Callable[..., None], argv: Sequence[str]) -> None:
    stages = definitions()
    parser = argparse.ArgumentParser(
        prog=f"python -m stages.{stage}",
        description=main.__doc__,
        epilog=f"Reads from the configuration: {', '.join(sorted(keys_of(main)))}",
        allow_abbrev=False,
    )
    for name, path in _paths(stages[stage]).items():
        parser.add_argument(f"--{name}", type=Path, metavar="PATH", help=f"default: {path}")
    parser.add_argument("overrides", metavar="hydra.override=value", nargs="*")
    given = vars(parser.parse_intermixed_args(argv))
    config = load_config(given.pop("overrides"))
    chosen = parse(Configuration, config, str(CONFIG))
    names = {group: getattr(chosen, group).name for group in GROUPS}
    stages = with_texts(stages, lambda text: Template(text).safe_substitute(names))
    known = _paths(stages[stage])
    paths = known | {name: path for name, path in given.items() if path is not None}
    _check_inputs(stage, stages[stage]["deps"], known, paths)
    files = _files(stages, stage, known, paths)
    with guarded(stage, files):
        configured(main, config, str(CONFIG))(paths)


def load_config(overrides: Sequence[str] = ()) -> Config:
    """Return the configuration that `config` wrote, or compose it if there are overrides.

    Raises:
        ConfigurationError: there is no composed configuration yet, or it cannot be composed.
    """
    if overrides:
        return compose(CONF, read_selection(PARAMS), overrides)
    first = "run `dvc repro config` first"
    return {**read_mapping(CONFIG, first), "language": read_mapping(LANGUAGE, first)}


def configuration_of_stages(config: Config) -> dict[str, Config]:
    """Return the part of the configuration that dvc.yaml lists for each stage after `config`."""
    return {
        stage: pick(config, _keys(defined), "the composed configuration")
        for stage, defined in definitions().items()
        if stage != "config"
    }


def _paths(defined: Mapping[str, Any]) -> dict[str, Path]:
    """Return the paths of a stage's command, by option."""
    words = shlex.split(defined["cmd"])[3:]
    options = (word.removeprefix("--") for word in words[::2])
    return dict(zip(options, map(Path, words[1::2]), strict=True))


def definitions() -> dict[str, Any]:
    """Return the definition of each stage of ours in dvc.yaml; a project may have more stages.

    Raises:
        ConfigurationError: there is no dvc.yaml here, it does not define a pipeline, or it is one
            of another version of the package.
        FormatError: it is not YAML.
    """
    require_project()
    found = read_mapping(PIPELINE, "restore it from git")
    ours, program = yaml_value(pipeline())["stages"], f"python -m {STAGES}."
    stages = {
        name: defined
        for name, defined in found.get("stages", {}).items()
        if name in ours or str(defined.get("cmd")).startswith(program)
    }
    for name in {**ours, **stages}:
        if not (name in ours and name in stages and _fits(stages[name], ours[name])):
            raise ConfigurationError(
                f"{PIPELINE} is of another version of BEARS (its stage {name} differs); run "
                "`bears upgrade`, which writes it anew"
            )
    return stages


def _fits(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> bool:
    return _needs(ours) <= _needs(theirs) and {*_keys(theirs)} == {*_keys(ours)}


def _needs(defined: Mapping[str, Any]) -> set[str]:
    """Return the command of a stage, its inputs and its outputs."""
    files = (*defined.get("deps", []), *defined.get("outs", []))
    return {str(defined.get("cmd")), *map(str, files)}


def _files(stages: Mapping[str, Any], stage: str, known: Paths, paths: Paths) -> StageFiles:
    """Return the files that a stage reads and writes, from dvc.yaml and the given paths."""
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
    fixed = [dep for dep in deps if dep != str(known.get(UPDATED))]
    return StageFiles(
        reads={name: paths[name] for name in outputs},
        promised={name for name in outputs if paths[name] == known[name]},
        sealed=[paths[name] for name, path in known.items() if str(path) in outs],
        writes=[paths[name] for name in known if name not in read or name == UPDATED],
        watched=[CONFIG, *(given.get(dep, Path(dep)) for dep in fixed)],
    )


def _check_inputs(stage: str, inputs: Container[str], known: Paths, paths: Paths) -> None:
    """Raise ConfigurationError if an input is missing, as it may be in a run by hand."""
    for name, path in paths.items():
        if str(known[name]) in inputs and not path.exists():
            raise ConfigurationError(
                f"--{name}: {path} does not exist yet; `dvc repro {stage}` makes it first"
            )


def _keys(defined: Mapping[str, Any]) -> list[str]:
    """Return the keys of the configuration that dvc.yaml lists for a stage."""
    params = [item for item in defined.get("params", []) if isinstance(item, dict)]
    keys = [key for item in params for key in item.get(str(CONFIG), [])]
    return [*keys, "language"] if str(LANGUAGE) in defined.get("deps", []) else keys
