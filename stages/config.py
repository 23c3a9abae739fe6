"""config: params.yaml and conf/ → data/config.yaml and data/language.yaml."""

import argparse
import sys
from functools import partial
from pathlib import Path

from bears.configuration import compose, parse, read_selection, write_yaml
from bears.configuration.edge import ended
from bears.configuration.pipeline import CONFIG, GROUPS, LANGUAGE
from bears.errors import ConfigurationError
from bears.ledger.entries import WholeLedger


def main(conf: Path, out: Path, language: Path, overrides: list[str]) -> None:
    """Compose the configuration once, for every later stage."""
    selection = read_selection(Path("params.yaml"))
    config = compose(conf, selection, overrides)
    parse(WholeLedger, config["ledger"], "ledger")
    for group in GROUPS:
        selected, composed = selection.get(group), config[group]["name"]
        if not overrides and composed != selected:
            raise ConfigurationError(
                f"{group} is {selected!r} in params.yaml, but {composed!r} after its overrides; "
                f"choose it with -S {group}={composed}, since the paths in dvc.yaml carry the "
                "name in params.yaml"
            )
    memory = Path(f"data/memory/{config['benchmark']['name']}.jsonl")
    if not memory.exists():
        # DVC would only say that a dependency is missing; an empty memory lets `translate` say
        # which translations are missing and how to get them.
        memory.parent.mkdir(parents=True, exist_ok=True)
        memory.touch()
    write_yaml(language, config["language"])
    write_yaml(out, {**config, "language": {"name": config["language"]["name"]}})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m stages.config", description=__doc__)
    parser.add_argument("--conf", type=Path, default=Path("conf"))
    parser.add_argument("--out", type=Path, default=CONFIG)
    parser.add_argument("--language", type=Path, help=f"default: {LANGUAGE}, or named after --out")
    parser.add_argument("overrides", metavar="hydra.override=value", nargs="*")
    arguments = parser.parse_intermixed_args()
    language = arguments.language or arguments.out.with_name(
        LANGUAGE.name if arguments.out.name == CONFIG.name else f"language-{arguments.out.name}"
    )
    work = partial(main, arguments.conf, arguments.out, language, arguments.overrides)
    sys.exit(ended("config", work))
