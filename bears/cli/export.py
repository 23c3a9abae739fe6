"""``bears export``: a benchmark to give away."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bears.cli.selection import EXPORTED, composed, language_of
from bears.config.typed import pick, select
from bears.errors import ConfigurationError, FormatError
from bears.files.digest import sha256_of
from bears.files.records import write_json, write_text
from bears.publishing import beir, parquet
from bears.publishing.attestation import ATTESTATION, Attestation, attest
from bears.publishing.card import card
from bears.publishing.finished import Finished, read_finished
from bears.results.records import RecordsKeys


def export(folder: Path, overrides: Sequence[str] = (), *, benchmark: str = "") -> None:
    """Write the benchmark as a BEIR folder and as parquet.

    The folder also has a dataset card and an attestation.

    Args:
        folder: must not exist yet
    """
    if folder.exists():
        raise FormatError(f"{folder} exists already; name a new folder, or remove it first")
    finished = read_finished(composed(benchmark, overrides))
    records, selected = finished.files.translated, finished.settings.benchmark.language
    if (language := language_of(records)) != selected:
        raise ConfigurationError(
            f"{records} is in {language}, but the configuration says {selected!r}; select in "
            "params.yaml what made it"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    # The folder appears only when it is complete, so that an interrupted export is never used.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as name:
        attestation = write_export(finished, Path(name))
        Path(name).chmod(0o755)
        shutil.copytree(name, folder)
    print(f"{folder}: {len(finished.questions)} questions, {len(finished.documents)} documents")
    print(f"root {attestation.root}")


COMMAND = export


def write_export(finished: Finished, folder: Path) -> Attestation:
    """Write every format into ``folder``, then the attestation, and return the latter."""
    folder.mkdir(parents=True, exist_ok=True)
    # Without the lineage, answers would be scored against their first annotator alone.
    files = finished.files
    for path in (files.queries, files.corpus, files.lineage):
        if path != files.lineage or path.is_file():
            shutil.copyfile(path, folder / path.name)
    write_json(folder / EXPORTED, _exported_part(finished.config))
    beir.write_beir(finished, folder)
    parquet.write_parquet(finished, folder)
    attestation = attest(finished)
    write_text(folder / "README.md", card(finished, attestation))
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    digests = {path.relative_to(folder).as_posix(): sha256_of(path) for path in paths}
    write_json(folder / ATTESTATION, asdict(replace(attestation, files=digests)))
    return attestation


def _exported_part(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a configuration that scoring against an export needs."""
    known = select(RecordsKeys, config)
    sources = {
        name: asdict(replace(source, name=source.name or name, path=Path(source.path).name))
        for name, source in known.sources.items()
    }
    rest = pick(config, ("evaluate", "retrieve"), "the configuration")
    return {"benchmark": asdict(known.benchmark), "sources": sources, **rest}
