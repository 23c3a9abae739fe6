"""``bears attest``: prove what an export is."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from bears.config.typed import parse
from bears.errors import AttestationFailed
from bears.files.intake.files import json_value
from bears.files.records import sha256_of
from bears.publishing import attestation
from bears.publishing.export import PROVENANCE, unlike_export, write_export
from bears.publishing.finished import read_finished
from bears.selection.configuration import composed


def compare_digests(
    folder: Path | None = None,
    overrides: Sequence[str] = (),
    *,
    provenance: bool = False,
    benchmark: str = "",
) -> None:
    """Compare an export with what this project makes.

    Two questions are answered: are the records the same (questions, gold, documents), and is their
    provenance (sources, configuration, kept replies, ledger)? Each file is compared with what this
    project exports now. Exits with 1 and names what differs when the records of FOLDER are not what
    this project makes.

    Args:
        folder: an export; default: print the digests of this project
        provenance: fail as well if the same records have another provenance
    """
    finished = read_finished(composed(benchmark, overrides))
    found = attestation.attest(finished)
    if folder is None:
        digests = {**found.parts, "records": found.records, "root": found.root}
        print("\n".join(f"{name:14} {digest}" for name, digest in digests.items()))
        return
    file = folder / attestation.ATTESTATION
    expected = parse(attestation.Attestation, json_value(file), str(file))
    differing = attestation.differences(expected, found)
    problems = _changed(folder, expected)
    if not problems:
        with tempfile.TemporaryDirectory() as name:
            unlike = unlike_export(folder, write_export(finished, Path(name)), Path(name))
        # These files name the provenance, which may be another one for the same records.
        of_provenance = [name for name in unlike if name in PROVENANCE and differing]
        problems += [
            f"{folder / name}: differs from what this project exports"
            for name in unlike
            if name not in of_provenance or provenance
        ]
    problems += [
        f"{name}: this project's differs from the one in {expected.benchmark}'s export"
        for name in differing
        if name in attestation.RECORDS or provenance
    ]
    if problems:
        raise AttestationFailed("\n".join(problems))
    print(f"{folder} is what this project makes: records {found.records}")
    if differing:
        print(f"its provenance is another one: {', '.join(differing)} differ")
        if of_provenance:
            print(f"so do {', '.join(of_provenance)}, which nothing here proves")
    else:
        print(f"its provenance is the same: root {found.root}")


COMMAND = compare_digests


def _changed(folder: Path, expected: attestation.Attestation) -> list[str]:
    """Return a sentence for each file that differs from what the attestation says."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    present = {path.relative_to(folder).as_posix(): path for path in paths}
    known = {attestation.ATTESTATION, *expected.files}
    problems = [f"{path}: was not exported" for name, path in present.items() if name not in known]
    for name, digest in expected.files.items():
        if name not in present:
            problems.append(f"{folder}: {name!r} is absent")
        elif sha256_of(present[name]) != digest:
            problems.append(f"{present[name]}: changed since it was exported")
    if not attestation.consistent(expected):
        file = folder / attestation.ATTESTATION
        problems.append(f"{file}: its root or its records are not of its parts")
    return problems
