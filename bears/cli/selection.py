"""The configuration that a command works on."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from bears.config import Config, compose, parse, read_selection
from bears.config.ledger.entries import WholeLedger
from bears.config.shape import Evaluate, Name
from bears.errors import AttestationFailed, ConfigurationError
from bears.files.benchmark_state import BenchmarkState
from bears.files.digest import sha256_of
from bears.files.intake.json_text import json_value
from bears.files.manifest import check
from bears.files.records import read_json
from bears.files.shown import complain
from bears.language.tags import check_tag
from bears.publishing.attestation import ATTESTATION, Attestation
from bears.results.records import Records
from bears.results.row import MAIN

CONF = Path("conf")
EXPORTED = "benchmark.json"
"""In an export: the name of the benchmark, its measures, and how its questions are asked."""

SCORED_AGAINST = (EXPORTED, "queries.json", "corpus.json", "lineage.jsonl", "sidecar.json")
"""The files of an export that decide a score."""


class ExportedBenchmark(TypedDict):
    """What an export says of its benchmark."""

    name: Name
    language: str


class ExportedSource(TypedDict):
    """What an export says of a source."""

    name: str
    path: str
    split: str


class Exported(TypedDict):
    """What stands in `EXPORTED`."""

    benchmark: ExportedBenchmark
    sources: dict[str, ExportedSource]
    evaluate: Evaluate
    retrieve: dict[str, Any]


def composed(benchmark: str, overrides: Sequence[str]) -> Config:
    """params.yaml's selection with another benchmark, if one is named, and Hydra overrides.

    The overrides in params.yaml belong to its own benchmark, and may not fit another.
    """
    selection = read_selection(Path("params.yaml"))
    if benchmark and benchmark != selection.get("benchmark"):
        selection |= {"benchmark": benchmark, "overrides": []}
    config = compose(CONF, selection, overrides)
    parse(WholeLedger, config["ledger"], "ledger")
    return config


def add_selection(parser: argparse.ArgumentParser) -> None:
    """What `composed` is given."""
    parser.add_argument("--benchmark", default="", help="default: the one in params.yaml")
    add_overrides(parser)


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """The last words of a command."""
    parser.add_argument("overrides", metavar="OVERRIDE", nargs="*", help="Hydra overrides")


def add_benchmark_arguments(parser: argparse.ArgumentParser) -> None:
    """What `results_of` is given."""
    parser.add_argument("--benchmark", default="", help="its results must be in data/")
    parser.add_argument(
        "--folder",
        type=Path,
        help="an export of a benchmark, which needs no --benchmark and no pipeline; or a folder "
        "with queries.json and corpus.json",
    )
    parser.add_argument(
        "--unattested",
        action="store_true",
        help="score against an export that differs from its attestation.json, and say so",
    )


def results_of(
    benchmark: str, folder: Path | None, unattested: bool = False
) -> tuple[Path, Config]:
    """Where the questions and documents of a benchmark lie, and its configuration.

    Args:
        benchmark: its name; may be empty for an export.
        folder: an export, or any folder with the two files; None: where the pipeline has them.
        unattested: accept an export that differs from its attestation, and warn of it.

    Raises:
        ConfigurationError: the pipeline did not make it yet, no benchmark is named, or the export
            is of another one.
        AttestationFailed: the export differs from its attestation.
        FormatError: a file is not what its manifest says.
    """
    if folder and _exported(folder):
        config = json_value(folder / EXPORTED)
        parse(Exported, config, str(folder / EXPORTED))
        if benchmark not in ("", config["benchmark"]["name"]):
            raise ConfigurationError(
                f"{folder} is an export of {config['benchmark']['name']}, not of {benchmark}"
            )
    elif benchmark:
        config = composed(benchmark, [])
    else:
        raise ConfigurationError("--benchmark NAME is needed, or --folder with an export")
    where = folder or _translated(benchmark)
    for name in ("queries.json", "corpus.json"):
        if not (where / name).is_file():
            raise ConfigurationError(
                f"{where / name} does not exist; `dvc exp run -S benchmark={benchmark}` makes "
                "it, or name a folder that has it: --folder FOLDER"
            )
        check(where / name)
    if folder and (problem := unattested_part(folder)):
        if not unattested:
            raise AttestationFailed(
                f"{problem}. Take the export again, or score against it anyway: --unattested"
            )
        complain(f"warning: unattested: {problem}")
    return where, config


def unattested_part(folder: Path) -> str:
    """Return what an attestation does not cover of an export, in words; empty if it covers all."""
    file = folder / ATTESTATION
    if not file.is_file():
        # A folder that is not an export promises nothing.
        return f"{folder} is an export without {ATTESTATION}" if _exported(folder) else ""
    attested = parse(Attestation, json_value(file), str(file)).files
    for name in SCORED_AGAINST:
        path = folder / name
        found = sha256_of(path) if path.is_file() else None
        if found != attested.get(name):
            return f"{path} differs from {file}"
    return ""


def _exported(folder: Path) -> bool:
    return (folder / EXPORTED).is_file()


def add_language(parser: argparse.ArgumentParser) -> None:
    """Add the option that `language_of` is given."""
    parser.add_argument(
        "--language",
        default="",
        help="BCP 47 tag of the answers, such as en; default: what the benchmark's records say",
    )


def language_of(folder: Path, named: str = "") -> str:
    """Return the language that the answers to a benchmark's questions are in.

    params.yaml is not asked: what it selects today may not be what the records were made with.

    Args:
        folder: of the records, as `results_of` gives it.
        named: what --language says; it goes before what the records say.

    Raises:
        ConfigurationError: the language is unknown or is not a tag.
        FormatError: a file is not what its manifest says.
    """
    exported, sidecar = folder / EXPORTED, folder / "sidecar.json"
    known = named
    if not named and exported.is_file():
        known = parse(Exported, json_value(exported), str(exported))["benchmark"]["language"]
    elif not named and sidecar.is_file():
        check(sidecar)
        said = parse(dict[str, Any], read_json(sidecar), str(sidecar))
        known = parse(str, said.get("language", ""), f"{sidecar}: language")
    if not known:
        raise ConfigurationError(
            f"the records in {folder} do not say which language they are in; add --language TAG, "
            "such as --language en"
        )
    check_tag(known, "--language" if named else f"the language of {folder}")
    return known


def records_of(benchmark: str, folder: Path | None = None, unattested: bool = False) -> Records:
    """Return the records of a benchmark; arguments and errors are those of `results_of`."""
    return _records(*results_of(benchmark, folder, unattested))


def state_of(folder: Path, config: Config) -> BenchmarkState:
    """Return the state of the benchmark in a folder."""
    return _records(folder, config).state


def _records(folder: Path, config: Config) -> Records:
    own = folder == _translated(config["benchmark"]["name"]) or _exported(folder)
    return Records(folder, config, own)


def _translated(benchmark: str) -> Path:
    return Path("data") / benchmark / "translated"


def main_of(config: Mapping[str, Any]) -> str:
    """The measure that orders systems on the benchmark; exports do not tell it."""
    return str(config["evaluate"].get("main", MAIN))


def rewritten_file(config: Config) -> Path:
    """Where the pipeline has what is searched for each question.

    Raises:
        ConfigurationError: the selected rewriter has not run yet.
        FormatError: the file is not what its manifest says.
    """
    name, rewriter = config["benchmark"]["name"], config["rewriter"]["name"]
    path: Path = Path("data") / name / "rewritten" / f"{rewriter}.jsonl"
    if not path.is_file():
        raise ConfigurationError(
            f"{path} does not exist; `dvc repro rewrite` with benchmark: {name} and "
            f"rewriter: {rewriter} makes it first"
        )
    check(path)
    return path


def exported_part(config: Mapping[str, Any]) -> Config:
    """What of its configuration an export tells, so that it can be scored against by itself."""
    benchmark = {key: config["benchmark"][key] for key in ("name", "language")}
    sources = {
        name: {
            "name": source.get("name", name),
            "path": Path(source.get("path") or "").name,
            "split": source.get("split", ""),
        }
        for name, source in config["sources"].items()
    }
    return {
        "benchmark": benchmark,
        "sources": sources,
        "evaluate": config["evaluate"],
        "retrieve": config["retrieve"],
    }
