"""``bears attest``: prove what an export is."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from bears.config.typed import parse
from bears.errors import AttestationFailed
from bears.files.intake.files import json_value
from bears.files.records import sha256_of
from bears.publishing import attestation
from bears.publishing.export import unlike_export, write_export
from bears.publishing.finished import read_finished
from bears.selection.configuration import composed


def compare_digests(
    folder: Path | None = None, overrides: Sequence[str] = (), *, benchmark: str = ""
) -> None:
    """Compare an export with what this project makes.

    Everything must be the same: the records (questions, gold, documents), their provenance
    (sources, configuration, kept replies, ledger), and each file as this project exports it now.
    Exits with 1 and names what differs, or can't be proven here. If only the provenance differs,
    says that the records are the same.

    Args:
        folder: an export; default: print the digests of this project
    """
    finished = read_finished(composed(benchmark, overrides))
    found = attestation.attest(finished)
    if folder is None:
        digests = {**found.parts, "records": found.records, "root": found.root}
        print("\n".join(f"{name:14} {digest}" for name, digest in digests.items()))
        return
    file = folder / attestation.ATTESTATION
    expected = parse(attestation.Attestation, json_value(file), str(file))
    problems = _changed(folder, expected)
    if not problems:
        with tempfile.TemporaryDirectory() as name:
            unlike = unlike_export(folder, write_export(finished, Path(name)), Path(name))
        problems += [f"{folder / each}: differs from what this project exports" for each in unlike]
    problems += [
        f"{name}: this project's differs from the one in {expected.benchmark}'s export"
        for name in attestation.differences(expected, found)
    ]
    if problems:
        same = f"the records are the same ({found.records}), and nothing here proves the rest:"
        first = [same] if found.records == expected.records else []
        raise AttestationFailed("\n".join([*first, *problems]))
    print(f"{folder} is what this project makes: records {found.records}, root {found.root}")


COMMAND = compare_digests


def _changed(folder: Path, expected: attestation.Attestation) -> list[str]:
    """Return a sentence for each file that differs from what the attestation says."""
    # A link may lead to another file tomorrow.
    paths = sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    present = {path.relative_to(folder).as_posix(): path for path in paths}
    known = {attestation.ATTESTATION, *expected.files}
    problems = [
        f"{path}: was not exported"
        for name, path in present.items()
        if name not in known or path.is_symlink() or not path.is_file()
    ]
    for name, digest in expected.files.items():
        if name not in present:
            problems.append(f"{folder}: {name!r} is absent")
        elif present[name].is_file() and sha256_of(present[name]) != digest:
            problems.append(f"{present[name]}: changed since it was exported")
    if not attestation.consistent(expected):
        file = folder / attestation.ATTESTATION
        problems.append(f"{file}: its records or its roots are not of its parts and files")
    return problems
