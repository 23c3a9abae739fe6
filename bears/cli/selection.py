"""The configuration and the records that a command works on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bears.config import Config, compose, parse, read_mapping, read_selection
from bears.config.ledger.entries import LedgerPart
from bears.config.shape import BenchmarkName, Configuration
from bears.config.typed import Keys, select
from bears.errors import AttestationFailed, ConfigurationError
from bears.files.digest import sha256_of
from bears.files.intake.json_text import json_value
from bears.files.manifest import check
from bears.files.records import read_json
from bears.files.shown import complain
from bears.language.tags import check_tag
from bears.layout import CONF, CONFIG, PARAMS, BenchmarkFiles
from bears.publishing.attestation import ATTESTATION, Attestation
from bears.results.records import EXPORTED, Records, RecordsKeys

SCORED_AGAINST = (EXPORTED, "queries.json", "corpus.json", "lineage.jsonl", "sidecar.json")
"""The files of an export that decide a score."""


@dataclass(frozen=True)
class NamedBenchmark(Keys):
    """The key of the configuration that names the files of a benchmark."""

    benchmark: BenchmarkName


def composed(benchmark: str = "", overrides: Sequence[str] = ()) -> Config:
    """Compose the configuration that params.yaml selects.

    Args:
        benchmark: replaces the selected one. The overrides in params.yaml are then dropped, since
            they may not fit another benchmark.
        overrides: further Hydra overrides.
    """
    selection = read_selection(PARAMS)
    if benchmark and benchmark != selection.get("benchmark"):
        selection |= {"benchmark": benchmark, "overrides": []}
    config = compose(CONF, selection, overrides)
    select(LedgerPart, config)
    return config


def selected(config: Config) -> Configuration:
    """Return the parts that every configuration has, typed."""
    return select(Configuration, config)


def files_of(config: Config) -> BenchmarkFiles:
    """Return the files of the selected benchmark."""
    return BenchmarkFiles(select(NamedBenchmark, config).benchmark.name)


def made(config: Config, stage: str, *files: Path) -> Sequence[Path]:
    """Return files that a stage wrote, after checking them against their manifests.

    Raises:
        ConfigurationError: the stage has not run yet.
        FormatError: a file is not what its manifest says.
    """
    for file in files:
        if not file.exists():
            chosen = selected(config)
            raise ConfigurationError(
                f"{file} does not exist; run `dvc repro {stage}` with benchmark: "
                f"{chosen.benchmark.name}, retriever: {chosen.retriever.name}, rewriter: "
                f"{chosen.rewriter.name} first"
            )
        check(file)
    return files


def records_of(benchmark: str, folder: Path | None = None, unattested: bool = False) -> Records:
    """Return the records of a benchmark, which results are scored against.

    Args:
        benchmark: its name; may be empty for an export.
        folder: an export, or any folder with the two files; None: the pipeline's own.
        unattested: accept an export that differs from its attestation, with a warning.

    Raises:
        ConfigurationError: the pipeline has not made the records yet, no benchmark is named, or
            the export is of another benchmark.
        AttestationFailed: the export differs from its attestation.
        FormatError: a file is not what its manifest says.
    """
    exported = folder and _exported(folder)
    if exported:
        settings, name = exported, exported.benchmark.name
        if benchmark not in ("", name):
            raise ConfigurationError(f"{folder} is an export of {name}, not of {benchmark}")
    elif benchmark:
        settings = select(RecordsKeys, composed(benchmark))
        # The records are of the sources that ran last, which params.yaml may not select any more.
        ran = read_mapping(CONFIG)
        if ran and select(NamedBenchmark, ran).benchmark.name == benchmark:
            settings = replace(settings, sources=select(RecordsKeys, ran).sources)
    else:
        raise ConfigurationError("--benchmark NAME is needed, or --folder with an export")
    translated = BenchmarkFiles(settings.benchmark.name).translated
    own = bool(exported) or folder in (None, translated)
    records = Records(folder or translated, settings, own)
    for path in (records.queries, records.corpus):
        if not path.is_file():
            raise ConfigurationError(
                f"{path} does not exist; `dvc exp run -S benchmark={benchmark}` makes it, or name "
                "a folder that has it: --folder FOLDER"
            )
        check(path)
    if folder and (problem := unattested_part(folder)):
        if not unattested:
            raise AttestationFailed(
                f"{problem}. Take the export again, or score against it anyway: --unattested"
            )
        complain(f"warning: unattested: {problem}")
    return records


def unattested_part(folder: Path) -> str:
    """Describe what the attestation of an export does not cover; return "" if it covers all."""
    file = folder / ATTESTATION
    if not file.is_file():
        # A folder that is not an export promises nothing.
        return f"{folder} is an export without {ATTESTATION}" if _exported(folder) else ""
    attested = parse(Attestation, json_value(file), str(file)).files
    for path in (folder / name for name in SCORED_AGAINST):
        if (sha256_of(path) if path.is_file() else None) != attested.get(path.name):
            return f"{path} differs from {file}"
    return ""


def _exported(folder: Path) -> RecordsKeys | None:
    """Return the configuration in an export; None for another folder."""
    path = folder / EXPORTED
    return parse(RecordsKeys, json_value(path), str(path)) if path.is_file() else None


def language_of(folder: Path, named: str = "") -> str:
    """Return the language of the answers to a benchmark's questions.

    The selection in params.yaml does not count: it may differ from what made the records.

    Args:
        folder: of the records.
        named: the value of --language, which overrides the records.

    Raises:
        ConfigurationError: the language is unknown or is not a tag.
        FormatError: a file is not what its manifest says.
    """
    language, sidecar = named, folder / "sidecar.json"
    if not named and (exported := _exported(folder)):
        language = exported.benchmark.language
    elif not named and sidecar.is_file():
        check(sidecar)
        notes = parse(dict[str, Any], read_json(sidecar), str(sidecar))
        language = parse(str, notes.get("language", ""), f"{sidecar}: language")
    if not language:
        raise ConfigurationError(
            f"the records in {folder} do not say which language they are in; add --language TAG, "
            "such as --language en"
        )
    check_tag(language, "--language" if named else f"the language of {folder}")
    return language
