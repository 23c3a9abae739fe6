"""What is known of the benchmark itself: its records, their sources, what was found in them."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bears.files.benchmark_state import records_digest
from bears.files.digest import sha256_of
from bears.files.records import read_json, read_lines, read_questions, stream_documents
from bears.publishing.report.tax import Tax, read_taxes
from bears.types import Question


@dataclass(frozen=True)
class BenchmarkFolders:
    """Where the pipeline wrote a benchmark; all but ``translated`` may be missing."""

    translated: Path
    sampled: Path
    verified: Path
    provenance: Path
    audited: Path
    taxes: Path


@dataclass(frozen=True)
class Benchmark:
    """A benchmark as the page shows it.

    Args:
        name, language: of the benchmark; the language as a BCP 47 tag.
        languages: each source's own language.
        documents: doc_id to text and source, of the documents that are shown.
        originals: question_id to the question and its answer before translation.
        original_documents: doc_id to the text before translation, of gold documents.
        aliases: question_id to other forms of its answer.
        findings: of the verification and of the audit.
        candidates: of the audit: documents that may answer a question, though they are no gold of
            it; None where there was no audit.
        provenance: of each source: where from, revision, licence, files with digests.
        pool: source to the number of its documents, and of those that are gold.
        digests: what to sha256.
        taxes: what translation cost retrievers.
    """

    name: str
    language: str
    languages: Mapping[str, str]
    questions: Sequence[Question]
    documents: Mapping[str, tuple[str, str]]
    originals: Mapping[str, tuple[str, str]]
    original_documents: Mapping[str, str]
    aliases: Mapping[str, Sequence[str]]
    findings: Sequence[Mapping[str, Any]]
    candidates: Sequence[Mapping[str, Any]] | None
    provenance: Sequence[Mapping[str, Any]]
    pool: Mapping[str, tuple[int, int]]
    digests: Mapping[str, str]
    taxes: Sequence[Tax]

    def findings_of(self, question: Question) -> list[list[str]]:
        """Severity, check and message of what was found in a question and its gold."""
        about = {question.question_id, *question.gold_doc_ids}
        return [
            [str(row.get(key, "")) for key in ("severity", "check", "message")]
            for row in self.findings
            if row.get("record_id") in about
        ]


GOLD, OTHER = 3000, 300
"""Characters that are shown of a gold document, and of another one."""


def read_benchmark(
    config: Mapping[str, Any],
    folders: BenchmarkFolders,
    questions: Sequence[Question],
    gold: Collection[str],
    shown: Collection[str],
) -> Benchmark:
    """Read what the page shows; texts only of the documents named.

    Args:
        config: ``benchmark`` and ``sources`` of the composed configuration.
        questions: all of the benchmark.
        gold, shown: doc_ids; ``shown`` has those of ``gold`` too.

    Raises:
        FormatError: a file is absent or malformed.
    """
    files = {name: folders.translated / name for name in ("queries.json", "corpus.json")}
    documents: dict[str, tuple[str, str]] = {}
    total, relevant = Counter[str](), Counter[str]()
    for document in stream_documents(files["corpus.json"]):
        total[document.original_source] += 1
        relevant[document.original_source] += document.is_gold
        if document.doc_id in shown:
            text = cut(document.content, GOLD if document.doc_id in gold else OTHER)
            documents[document.doc_id] = text, document.original_source
    digests = {name: sha256_of(path) for name, path in files.items()}
    digests["records"] = records_digest(*digests.values())
    found = [_rows(folder / "findings.jsonl") for folder in (folders.verified, folders.audited)]
    return Benchmark(
        name=config["benchmark"]["name"],
        language=config["benchmark"]["language"],
        languages={
            source: str(each.get("language") or config["benchmark"]["language"])
            for source, each in config["sources"].items()
        },
        questions=questions,
        documents=documents,
        originals=_originals(folders.sampled / "queries_raw.json"),
        original_documents=_original_documents(folders.sampled / "corpus_raw.json", gold),
        aliases=_aliases(folders.translated / "sidecar.json"),
        findings=[row for rows in found for row in rows or ()],
        candidates=_rows(folders.audited / "candidates.jsonl"),
        provenance=read_json(folders.provenance) if folders.provenance.is_file() else [],
        pool={source: (total[source], relevant[source]) for source in sorted(total)},
        digests=digests,
        taxes=list(read_taxes(folders.taxes, digests["records"][:12])),
    )


def _rows(file: Path) -> list[dict[str, Any]] | None:
    return [row for _, row in read_lines(file)] if file.is_file() else None


def cut(text: str, longest: int) -> str:
    """``text`` as far as the page has room for it."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def _originals(queries: Path) -> dict[str, tuple[str, str]]:
    questions = read_questions(queries) if queries.is_file() else ()
    return {each.question_id: (each.question, each.gold_answer) for each in questions}


def _original_documents(corpus: Path, gold: Collection[str]) -> dict[str, str]:
    documents = stream_documents(corpus) if corpus.is_file() else ()
    return {each.doc_id: cut(each.content, GOLD) for each in documents if each.doc_id in gold}


def _aliases(sidecar: Path) -> dict[str, list[str]]:
    known = read_json(sidecar) if sidecar.is_file() else {}
    return known.get("aliases", {}) if isinstance(known, dict) else {}
