"""``python -m bears export``: a benchmark to give away."""

import argparse
import shutil
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

from bears.cli.selection import EXPORTED, add_selection, composed, exported_part, language_of
from bears.errors import ConfigurationError, FormatError
from bears.files.digest import sha256_of
from bears.files.records import write_json, write_text
from bears.publishing import beir, parquet
from bears.publishing.attestation import ATTESTATION, Attestation, attest
from bears.publishing.card import card
from bears.publishing.croissant import croissant
from bears.publishing.finished import Finished, read_finished


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``export``."""
    parser.description = (
        "Write the benchmark as a BEIR folder and as parquet, with a dataset card, Croissant "
        "metadata and an attestation."
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="must not exist yet")
    add_selection(parser)
    parser.set_defaults(run=_export)


def _export(arguments: argparse.Namespace) -> None:
    folder: Path = arguments.folder
    if folder.exists():
        raise FormatError(f"{folder} exists already; name a new folder, or remove it first")
    finished = read_finished(composed(arguments.benchmark, arguments.overrides), Path("data"))
    made, selected = language_of(finished.queries.parent), finished.config["benchmark"]["language"]
    if made != selected:
        raise ConfigurationError(
            f"{finished.queries.parent} is in {made}, but the configuration says {selected!r}; "
            "select in params.yaml what made it"
        )
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
