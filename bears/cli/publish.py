"""``python -m bears export`` and ``attest``: a benchmark to give away, and proof of what it is."""

import argparse
import shutil
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

from bears.cli.selection import EXPORTED, composed, exported_part
from bears.configuration import parse
from bears.errors import AttestationFailed, FormatError
from bears.formats.digest import sha256_of
from bears.formats.records import write_json, write_text
from bears.intake.json_text import json_value
from bears.publishing import beir, parquet
from bears.publishing.attestation import RECORDS, Attestation, attest, differences
from bears.publishing.card import card
from bears.publishing.croissant import croissant
from bears.publishing.finished import Finished, read_finished

DATA = Path("data")
ATTESTATION = "attestation.json"


def add_export(parser: argparse.ArgumentParser) -> None:
    """The options of ``export``."""
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="must not exist yet")
    _add_selection(parser)
    parser.set_defaults(run=_export)


def add_attest(parser: argparse.ArgumentParser) -> None:
    """The options of ``attest``."""
    parser.add_argument(
        "folder", metavar="FOLDER", type=Path, nargs="?", help="an export; default: print the root"
    )
    parser.add_argument(
        "--provenance",
        action="store_true",
        help="fail if the same records have another provenance: sources' files, configuration, "
        "ledger, memory",
    )
    _add_selection(parser)
    parser.set_defaults(run=_attest)


def _add_selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--benchmark", default="", help="default: the one in params.yaml")
    parser.add_argument("overrides", metavar="hydra.override=value", nargs="*")


def _finished(arguments: argparse.Namespace) -> Finished:
    return read_finished(composed(arguments.benchmark, arguments.overrides), DATA)


def _export(arguments: argparse.Namespace) -> None:
    folder: Path = arguments.folder
    if folder.exists():
        raise FormatError(f"{folder} exists already; name a new folder, or remove it first")
    finished = _finished(arguments)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # A whole folder appears or none, so that an interrupted export is never taken for one.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as name:
        attestation = write_export(finished, Path(name))
        Path(name).chmod(0o755)
        shutil.copytree(name, folder)
    print(f"{folder}: {len(finished.questions)} questions, {len(finished.documents)} documents")
    print(f"root {attestation.root}")


def write_export(finished: Finished, folder: Path) -> Attestation:
    """Write every form into ``folder``, the attestation last, and return that."""
    folder.mkdir(parents=True, exist_ok=True)
    # Without the lineage, answers would be scored against their first annotator alone.
    for path in filter(None, (finished.queries, finished.corpus, finished.lineage)):
        shutil.copyfile(path, folder / path.name)
    write_json(folder / EXPORTED, exported_part(finished.config))
    beir.write_beir(finished, folder)
    parquet.write_parquet(finished, folder)
    attestation = attest(finished)
    write_text(folder / "README.md", card(finished, attestation))
    write_json(folder / "croissant.json", croissant(finished, folder))
    files = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        files[path.relative_to(folder).as_posix()] = sha256_of(path)
    write_json(folder / ATTESTATION, asdict(replace(attestation, files=files)))
    return attestation


def _attest(arguments: argparse.Namespace) -> None:
    found = attest(_finished(arguments))
    if arguments.folder is None:
        digests = {**found.parts, "records": found.records, "root": found.root}
        print("\n".join(f"{name:14} {digest}" for name, digest in digests.items()))
        return
    file = arguments.folder / ATTESTATION
    expected = parse(Attestation, json_value(file), str(file))
    differing = differences(expected, found)
    fatal = [name for name in differing if name in RECORDS or arguments.provenance]
    problems = _changed(arguments.folder, expected)
    for name in fatal:
        problems.append(
            f"{name}: this checkout makes another one than {expected.benchmark}'s export"
        )
    if problems:
        raise AttestationFailed("\n".join(problems))
    print(f"{arguments.folder} is what this checkout makes: records {found.records}")
    if differing:
        print(f"its provenance is another one: {', '.join(differing)} differ")
    else:
        print(f"its provenance is the same: root {found.root}")


def _changed(folder: Path, expected: Attestation) -> list[str]:
    """Files of the export that are not those that it was written with."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    there = {path.relative_to(folder).as_posix(): path for path in paths}
    named = {ATTESTATION, *expected.files}
    problems = [f"{path}: was not exported" for name, path in there.items() if name not in named]
    for name, digest in expected.files.items():
        if name not in there:
            problems.append(f"{folder}: {name!r} is absent")
        elif sha256_of(there[name]) != digest:
            problems.append(f"{there[name]}: changed since it was exported")
    return problems
