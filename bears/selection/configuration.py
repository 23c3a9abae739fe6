"""The configuration and the records that a command works on."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bears.config import Config, compose, read_mapping, read_selection
from bears.config.packaged import PACKAGE, conf_folders
from bears.config.shape import BenchmarkIdentity, Configuration, Source, source_of
from bears.config.typed import configured, parse
from bears.errors import AttestationFailed, ConfigurationError, FormatError
from bears.files.intake.files import json_value
from bears.files.manifest import check
from bears.files.records import digest_of, read_json, sha256_of, to_json, write_text
from bears.files.shown import complain
from bears.language.tags import check_tag
from bears.layout import COMPOSED, CONF, CONFIG, PARAMS, BenchmarkFiles
from bears.publishing.attestation import ATTESTATION, Attestation
from bears.results.records import EXPORTED, Records

SCORED_AGAINST = (EXPORTED, "queries.json", "corpus.json", "lineage.jsonl", "sidecar.json")
"""The files of an export that decide a score."""


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
    # Composing takes most of a second, and nothing but these files changes what it gives.
    files = [file for folder in conf_folders() for file in folder.rglob("*.yaml")]
    files += (PACKAGE / "config").rglob("*.py")
    stamps = sorted((str(file), file.stat().st_mtime_ns) for file in files)
    key = digest_of({"selection": selection, "overrides": overrides, "files": stamps})
    with suppress(ConfigurationError, FormatError, FileNotFoundError):
        known = parse(Config, json_value(COMPOSED), str(COMPOSED))
        if known.get("key") == key:
            return parse(Config, known["config"], str(COMPOSED))
    config = compose(CONF, selection, overrides)
    text = to_json({"key": key, "config": config})
    if json_value(text.encode())["config"] == config:
        write_text(COMPOSED, text)
    return config


def selected(config: Config) -> Configuration:
    """Return the parts that every configuration has, typed."""
    return parse(Configuration, config, "")


def files_of(config: Config) -> BenchmarkFiles:
    """Return the files of the selected benchmark."""
    return BenchmarkFiles(parse(BenchmarkIdentity, config["benchmark"], "benchmark").name)


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
    records = _exported(folder) if folder else None
    if records:
        if benchmark not in ("", name := records.benchmark.name):
            raise ConfigurationError(f"{folder} is an export of {name}, not of {benchmark}")
    elif benchmark:
        config = composed(benchmark)
        translated = files_of(config).translated
        # The records are of the sources that ran last, which params.yaml may not select any more.
        ran = read_mapping(CONFIG)
        last = ran if ran and files_of(ran).translated == translated else config
        origin = source_of(parse(dict[str, Source], last["sources"], "sources"))
        if folder not in (None, translated):
            origin = folder.resolve().name
        records = configured(Records, config)(folder or translated, origin)
    else:
        raise ConfigurationError("--benchmark NAME is needed, or --folder with an export")
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


def _exported(folder: Path) -> Records | None:
    """Return the records of an export; None for another folder."""
    path = folder / EXPORTED
    if not path.is_file():
        return None
    found = parse(dict[str, Any], json_value(path), str(path))
    # It says of a source what its state depends on, and no more.
    rest = {"language": "", "licence": ""}
    given = parse(dict[str, dict[str, Any]], found.get("sources"), f"{path}: sources")
    sources = {name: {**rest, **source} for name, source in given.items()}
    origin = source_of(parse(dict[str, Source], sources, f"{path}: sources"))
    ledger = parse(dict[str, list[Any]], found.get("ledger", {}), f"{path}: ledger")
    keys = {**found, **{part: ledger.get(part, []) for part in ("judgements", "nuggets")}}
    return configured(Records, keys, str(path))(folder, origin)


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
