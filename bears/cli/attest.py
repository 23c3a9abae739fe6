"""``bears attest``: prove what an export is."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from bears.config.typed import parse
from bears.errors import AttestationFailed
from bears.files.intake.files import json_value
from bears.publishing import attestation
from bears.publishing.export import digests_in, unlike_export, write_export
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
    with tempfile.TemporaryDirectory() as name:
        unlike = unlike_export(folder, write_export(finished, Path(name)), Path(name))
    problems = [f"{folder / each}: differs from what this project exports" for each in unlike]
    if digests_in(folder) != expected.files or not attestation.consistent(expected):
        problems.append(f"{file}: its records, roots or digests are not of its parts and files")
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
