"""Compute two digests: of a benchmark's records, and of these with all that they were made from."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bears.config import ledger_in
from bears.files.benchmark_state import records_digest
from bears.files.records import digest_of, sha256_of
from bears.llm.use import holds_replies
from bears.publishing.finished import Finished
from bears.sampling.mixture import as_before
from bears.types import ForbidsExtra

BUILDING = ("benchmark", "language", "sample", "translator")
"""The parts of the configuration that decide what the records are."""

ATTESTATION = "attestation.json"

EMPTY = hashlib.sha256(b"").hexdigest()
"""The digest of a benchmark without kept replies."""

RECORDS = ("queries", "corpus")
"""The parts that are the benchmark; the others are its provenance."""

_CITATION = ("cite_as", "date_published")
"""Settings that describe a benchmark and do not change it."""

_PLACES = ("path", "homepage", "name")
"""Settings that say where a source is, not what it contains."""


@dataclass(frozen=True)
class Attestation(ForbidsExtra):
    """The content of attestation.json; all digests are sha256.

    Args:
        benchmark: its name.
        records: the same for the same questions, gold and documents, whatever files they came from.
        root: the same only if the provenance is the same too; taken over ``parts`` as canonical
            JSON.
        parts: digest of each part.
        files: path within the export to digest, for each file but this one.
        exported: over ``root`` and ``files``; earlier versions did not write it. It depends on the
            version of pyarrow, as the bytes of parquet do.
    """

    benchmark: str
    records: str
    root: str
    parts: dict[str, str]
    files: dict[str, str] = field(default_factory=dict)
    exported: str = ""


def attest(finished: Finished) -> Attestation:
    """Compute the digest of each part and the root over them; the same on every machine.

    The location of a source's files is left out. Their digests are in the provenance.
    """
    config, files = finished.config, finished.files
    replies = files.replies()
    parts = {
        "queries": sha256_of(files.queries),
        "corpus": sha256_of(files.corpus),
        "sources": digest_of(_sources(finished)),
        "configuration": digest_of({key: _building(config, key) for key in BUILDING}),
        "ledger": digest_of(ledger_in(config)),
        "replies": sha256_of(replies) if holds_replies(replies) else EMPTY,
    }
    records = records_digest(parts["queries"], parts["corpus"])
    return Attestation(finished.benchmark.name, records, digest_of(parts), parts)


def whole(attestation: Attestation) -> Attestation:
    """Return an attestation with the digest of everything that is exported."""
    everything = {"root": attestation.root, "files": attestation.files}
    return replace(attestation, exported=digest_of(everything))


def consistent(attestation: Attestation) -> bool:
    """Return whether the records and the roots are the digests of the parts and the files."""
    parts = attestation.parts
    records = records_digest(*(parts.get(name, "") for name in RECORDS))
    if attestation.exported not in ("", whole(attestation).exported):
        return False
    return (attestation.records, attestation.root) == (records, digest_of(parts))


def differences(expected: Attestation, found: Attestation) -> list[str]:
    """Return the names of the parts that differ."""
    names = sorted({*expected.parts, *found.parts})
    return [name for name in names if expected.parts.get(name) != found.parts.get(name)]


def _building(config: Mapping[str, Any], key: str) -> Any:
    value = config[key]
    if key == "benchmark":
        whole = {**value, **config["publication"], "accept": config["accepted"]}
        return {name: part for name, part in whole.items() if name not in _CITATION}
    if key == "translator":
        # The pace and the price of requests change no text.
        return {name: value.get(name) for name in ("name", "model", "method", "prompt")}
    if key == "sample":
        return as_before(value)
    return value


def _sources(finished: Finished) -> dict[str, Any]:
    files = {
        row["source"]: [{"name": f["name"], "sha256": f["sha256"]} for f in row["files"]]
        for row in finished.provenance
    }
    return {
        name: {
            **{key: value for key, value in source.items() if key not in _PLACES},
            "files_read": files.get(name, []),
        }
        for name, source in finished.config["sources"].items()
    }
