"""config: params.yaml, conf/ and the code → data/config.yaml, language.yaml and code.yaml."""

import argparse
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

from bears.config import AUTO, compose, read_mapping, read_selection, root_of, write_yaml
from bears.config.code import Modules, code_digests
from bears.config.edge import ended
from bears.config.packaged import CODE_FOLDERS
from bears.config.pipeline import GROUPS, configuration_of_stages, definitions, locked_paths
from bears.config.shape import Configuration
from bears.config.typed import parse
from bears.errors import BearsError, ConfigurationError
from bears.files.records import write_text
from bears.layout import CODE, CONF, CONFIG, DATA, LANGUAGE, PARAMS, REPLIES, BenchmarkFiles
from bears.sources.folder.walk import content_of


def main(conf: Path, out: Path, language: Path, code: Path, overrides: list[str]) -> None:
    """Compose the configuration once, for every later stage, and digest their code."""
    definitions()  # Before an old selection is composed.
    selection = read_selection(PARAMS)
    config = compose(conf, selection, overrides)
    known = parse(Configuration, config, "")
    for group in GROUPS:
        selected, composed = selection.get(group), getattr(known, group).name
        if not overrides and selected not in (composed, AUTO):
            raise ConfigurationError(
                f"{group} is {selected!r} in params.yaml, but {composed!r} after its overrides; "
                f"choose it with -S {group}={composed}, since the paths in dvc.yaml carry the "
                "name in params.yaml"
            )
    # DVC watches nothing outside of the project, nor folders within that stages do not declare.
    # Where the files are not here, as on another machine, they are those of the last run.
    before: dict[str, str] = {}
    with suppress(BearsError):  # It may be missing, or in conflict in git; it is written anew.
        before = read_mapping(out).get("contents", {})
    paths = {name: source.path for name, source in known.sources.items() if source.path}
    places = {name: root_of(path) / Path(path).expanduser() for name, path in paths.items()}
    contents = {name: content_of(at) or before.get(name, "") for name, at in places.items()}
    for name, at in places.items():
        # A file of questions may be outside of the folder.
        file = at / str(known.sources[name].settings.get("questions") or "")
        contents[name] += f" {content_of(file)}" if file != at and file.is_file() else ""
    # DVC refuses to run a stage whose input is missing, and warns three times of each empty one.
    for folder in (DATA / "local", REPLIES / "made"):
        if not (folder.is_dir() and any(folder.iterdir())):
            write_text(folder / ".gitkeep", "")
    replies = BenchmarkFiles(known.benchmark.name).replies()
    if not (replies.is_file() and replies.stat().st_size):
        # `translate` says which translations are missing and how to get them.
        write_text(replies, "\n")
    digests = code_digests(Modules(Path.cwd(), CODE_FOLDERS), configuration_of_stages(config))
    # A running stage reads what it was started with, and is refused when that has changed.
    with locked_paths([], [out], "config"):
        write_yaml(code, digests)
        write_yaml(language, dict(known.language))
        del config["language"]
        write_yaml(out, {**config, "contents": contents})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m stages.config", description=__doc__)
    parser.add_argument("--conf", type=Path, default=CONF)
    parser.add_argument("--out", type=Path, default=CONFIG)
    parser.add_argument("--language", type=Path, help=f"default: {LANGUAGE}, or named after --out")
    parser.add_argument("--code", type=Path, help=f"default: {CODE}, or named after --out")
    parser.add_argument("overrides", metavar="hydra.override=value", nargs="*")
    arguments = parser.parse_intermixed_args()
    out = arguments.out
    language, code = (
        given or out.with_name(name if out.name == CONFIG.name else f"{Path(name).stem}-{out.name}")
        for given, name in ((arguments.language, LANGUAGE.name), (arguments.code, CODE.name))
    )
    work = partial(main, arguments.conf, out, language, code, arguments.overrides)
    sys.exit(ended("config", work))
