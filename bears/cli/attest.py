"""``python -m bears attest``: proof of what an export is."""

import argparse
from pathlib import Path

from bears.cli.selection import add_selection, composed
from bears.config import parse
from bears.errors import AttestationFailed
from bears.files.digest import sha256_of
from bears.files.intake.json_text import json_value
from bears.publishing.attestation import ATTESTATION, RECORDS, Attestation, attest, differences
from bears.publishing.finished import read_finished


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``attest``."""
    parser.description = (
        "Two answers: are the records the same (questions, gold, documents), and is their "
        "provenance (sources, configuration, memory, ledger)? Exits with 1 and names what differs "
        "when the records of FOLDER are not what this checkout makes."
    )
    parser.add_argument(
        "folder", metavar="FOLDER", type=Path, nargs="?", help="an export; default: print the root"
    )
    parser.add_argument(
        "--provenance",
        action="store_true",
        help="fail if the same records have another provenance: sources' files, configuration, "
        "ledger, memory",
    )
    add_selection(parser)
    parser.set_defaults(run=_attest)


def _attest(arguments: argparse.Namespace) -> None:
    found = attest(read_finished(composed(arguments.benchmark, arguments.overrides), Path("data")))
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
