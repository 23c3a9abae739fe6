"""download: the sources of the benchmark → data/raw/<benchmark>/rows/<source>.jsonl."""

from __future__ import annotations

from pathlib import Path

from hydra.utils import get_method

from bears.configuration import Config, parse
from bears.errors import ConfigurationError
from bears.formats.records import write_json
from bears.pipeline import Paths, checkout, exit_with
from bears.sources.convert import Reader, convert
from bears.sources.location import Source


def main(config: Config, paths: Paths) -> None:
    """Fetch every source, check it, and bring its rows into one shape."""
    mirror = checkout() / config["mirror"] if config["mirror"] else None
    provenance = []
    for name, value in config["sources"].items():
        source = parse(Source, value, f"sources.{name}")
        out = paths["rows"] / f"{name}.jsonl"
        provenance.append(convert(source, _reader(source), mirror, Path.cwd(), out))
    write_json(paths["provenance"], provenance)


def _reader(source: Source) -> Reader:
    try:
        reader: Reader = get_method(source.reader)
    except (ImportError, ValueError) as error:
        raise ConfigurationError(f"sources.{source.name}.reader: {error}") from None
    return reader


if __name__ == "__main__":
    exit_with("download", main)
