"""A finished benchmark: its records, and everything that is known of how they came to be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bears.files.digest import check_digest
from bears.files.manifest import check
from bears.files.records import read_documents, read_json, read_lines, read_questions
from bears.types import Document, Question


@dataclass(frozen=True)
class Finished:
    """What is exported.

    Args:
        config: the composed configuration.
        questions: as the pipeline wrote them.
        documents: as the pipeline wrote them.
        provenance: of each source: where from, revision, licence, files with digests.
        findings: of the verification.
        queries, corpus, memory: the files themselves; the memory may be empty.
        lineage: the file that says where records are from, and what further annotators answered;
            None where there is none.
    """

    config: Mapping[str, Any]
    questions: Sequence[Question]
    documents: Sequence[Document]
    provenance: Sequence[Mapping[str, Any]]
    findings: Sequence[Mapping[str, Any]]
    queries: Path
    corpus: Path
    memory: Path
    lineage: Path | None = None

    @property
    def name(self) -> str:
        """Of the benchmark."""
        return str(self.config["benchmark"]["name"])

    @property
    def about(self) -> list[str]:
        """How large it is, and in a second sentence where a model wrote its questions."""
        made = next((each.generated for each in self.questions if each.generated), None)
        return [
            f"{len(self.questions)} questions over {len(self.documents)} documents, for measuring "
            "retrievers.",
            *([f"No person asked these questions; {made}."] if made else []),
        ]


def read_finished(config: Mapping[str, Any], data: Path) -> Finished:
    """Read what the pipeline wrote for the benchmark of ``config``.

    Args:
        config: the composed configuration.
        data: the folder that dvc.yaml calls ``data``.

    Raises:
        FormatError: a file is absent or changed, or the records are not those that `verify`
            vouches for.
    """
    name = config["benchmark"]["name"]
    translated, verified = data / name / "translated", data / name / "verified"
    queries, corpus = translated / "queries.json", translated / "corpus.json"
    provenance, findings = data / "raw" / name / "sources.json", verified / "findings.jsonl"
    lineage = data / name / "sampled" / "lineage.jsonl"
    further = [lineage] if lineage.is_file() else []
    for file in (queries, corpus, provenance, findings, *further):
        check(file)
    for file in (queries, corpus):
        check_digest(file, verified / "digest.json")
    return Finished(
        config=config,
        questions=read_questions(queries),
        documents=read_documents(corpus),
        provenance=read_json(provenance),
        findings=[row for _, row in read_lines(findings)],
        queries=queries,
        corpus=corpus,
        memory=data / "memory" / f"{name}.jsonl",
        lineage=next(iter(further), None),
    )
