"""Read a finished benchmark: its records, and everything known about how they were made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bears.config.shape import BenchmarkIdentity, Source
from bears.config.typed import parse
from bears.files.manifest import check
from bears.files.records import check_digest, read_documents, read_json, read_lines, read_questions
from bears.layout import DATA, BenchmarkFiles
from bears.types import Document, Question


@dataclass(frozen=True)
class Finished:
    """What is exported.

    Args:
        config: the composed configuration.
        files: where the pipeline wrote the benchmark; there may be no lineage and no kept replies.
        questions: as the pipeline wrote them.
        documents: as the pipeline wrote them.
        provenance: origin, revision, licence and files of each source.
        findings: of the verification.
    """

    config: Mapping[str, Any]
    files: BenchmarkFiles
    questions: Sequence[Question]
    documents: Sequence[Document]
    provenance: Sequence[Mapping[str, Any]]
    findings: Sequence[Mapping[str, Any]]

    @cached_property
    def benchmark(self) -> BenchmarkIdentity:
        """Return its name and language."""
        return parse(BenchmarkIdentity, self.config["benchmark"], "benchmark")

    @cached_property
    def sources(self) -> dict[str, Source]:
        """Return its sources."""
        return parse(dict[str, Source], self.config["sources"], "sources")

    @property
    def about(self) -> list[str]:
        """Describe its size, and in a second sentence that a model wrote its questions, if so."""
        made = next((q.generated for q in self.questions if q.generated), None)
        return [
            f"{len(self.questions)} questions over {len(self.documents)} documents, for measuring "
            "retrievers.",
            *([f"No person asked these questions; {made}."] if made else []),
        ]


def origin_of(row: Mapping[str, Any]) -> str:
    """Return where a source comes from; empty for a folder on somebody's machine."""
    path = str(row.get("path") or "")
    local = path.startswith(("/", "~")) or path[1:2] == ":"
    return str(row.get("hub") or row.get("mirror_of") or ("" if local else path))


def read_finished(config: Mapping[str, Any], data: Path = DATA) -> Finished:
    """Read what the pipeline wrote for the benchmark of ``config``.

    Args:
        config: the composed configuration.
        data: the folder that dvc.yaml calls ``data``.

    Raises:
        FormatError: a file is missing or was changed, or `verify` did not check these records.
    """
    name = parse(BenchmarkIdentity, config["benchmark"], "benchmark").name
    files = BenchmarkFiles(name, data)
    findings = files.verified / "findings.jsonl"
    for file in (files.queries, files.corpus, files.sources, findings, files.lineage):
        check(file)
    for file in (files.queries, files.corpus):
        check_digest(file, files.verified / "digest.json")
    return Finished(
        config=config,
        files=files,
        questions=read_questions(files.queries),
        documents=read_documents(files.corpus),
        provenance=read_json(files.sources),
        findings=[row for _, row in read_lines(findings)],
    )
