"""Read what a report shows of the benchmark itself: its records, their sources, the findings."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bears.config.shape import Source
from bears.files.benchmark_state import records_digest
from bears.files.records import read_json, read_lines, read_questions, sha256_of, stream_documents
from bears.identity import path_of
from bears.layout import BenchmarkFiles
from bears.results.records import Records
from bears.retrieval.chunking import texts_of
from bears.types import Chunk, Question


@dataclass(frozen=True)
class ReportedBenchmark:
    """A benchmark as a report shows it.

    Args:
        name: the benchmark's name.
        language: the BCP 47 tag of its texts.
        languages: source to the language of its texts before translation.
        judgements: question_id to document, decision, author and reason of what people judged.
        texts: of each chunk that is shown, its text and source.
        originals: question_id to the question and its answer before translation.
        original_documents: doc_id to the text before translation, of gold documents.
        aliases: question_id to other forms of its answer.
        findings: of the verification and of the audit.
        candidates: documents outside the gold that may answer a question, as the audit lists them;
            None without an audit.
        provenance: origin, revision, licence and files of each source.
        pool: source to the number of its documents, and of those that are gold.
        digests: sha256 of each file, and of the records.
    """

    name: str
    language: str
    languages: Mapping[str, str]
    questions: Sequence[Question]
    judgements: Mapping[str, Sequence[Sequence[str]]]
    texts: Mapping[Chunk, tuple[str, str]]
    originals: Mapping[str, tuple[str, str]]
    original_documents: Mapping[str, str]
    aliases: Mapping[str, Sequence[str]]
    findings: Sequence[Mapping[str, Any]]
    candidates: Sequence[Mapping[str, Any]] | None
    provenance: Sequence[Mapping[str, Any]]
    pool: Mapping[str, tuple[int, int]]
    digests: Mapping[str, str]

    def findings_of(self, question: Question) -> list[list[str]]:
        """Return severity, check and message of each finding about a question and its gold."""
        about = {question.question_id, *question.gold_doc_ids}
        return [
            [str(row.get(key, "")) for key in ("severity", "check", "message")]
            for row in self.findings
            if row.get("record_id") in about
        ]

    def card(self) -> dict[str, Any]:
        """Return composition and counted findings; a row whose source is None is the total."""
        counts = Counter((q.source_dataset, q.question_type) for q in self.questions)
        kinds = sorted({kind for _, kind in counts})
        rows: list[list[Any]] = [
            [source, *(counts[source, kind] for kind in kinds), *self.pool.get(source, (0, 0))]
            for source in sorted({source for source, _ in counts} | self.pool.keys())
        ]
        if len(rows) > 1:
            rows.append([None, *map(sum, zip(*(row[1:] for row in rows), strict=True))])
        found = Counter((str(row["severity"]), str(row["check"])) for row in self.findings)
        card: dict[str, Any] = {
            "documents": sum(total for total, _ in self.pool.values()),
            "kinds": kinds,
            "composition": rows,
            "findings": sorted(found.items()),
            "candidates": None,
        }
        if self.candidates is not None:
            undecided = sum(not row.get("decision") for row in self.candidates)
            asked = {row["question_id"] for row in self.candidates}
            card["candidates"] = {"n": len(self.candidates), "of": len(asked), "open": undecided}
        return card


GOLD, OTHER = 3000, 300
"""How many characters are shown of a gold document, and of another one."""


def read_benchmark(
    records: Records,
    sources: Mapping[str, Source],
    files: BenchmarkFiles,
    gold: Collection[Chunk],
    shown: Collection[Chunk],
) -> ReportedBenchmark:
    """Read what the page shows; only the documents named are read in full.

    Args:
        records: of the benchmark.
        sources: of the configuration.
        files: of the benchmark; all but the translated records may be missing.
        gold: the chunks that answer.
        shown: all chunks to show, gold ones included.

    Raises:
        FormatError: a file is missing or malformed.
    """
    texts: dict[Chunk, tuple[str, str]] = {}
    wanted = defaultdict[str, set[Chunk]](set)
    for chunk in shown:
        wanted[chunk.doc_id].add(chunk)
    whole_gold = {chunk.doc_id for chunk in gold if chunk.end is None}
    total, relevant = Counter[str](), Counter[str]()
    for document in stream_documents(files.corpus):
        total[document.original_source] += 1
        relevant[document.original_source] += document.is_gold
        for chunk, text in texts_of([document], wanted.get(document.doc_id, ())).items():
            shortened = cut(text, GOLD if chunk in gold else OTHER)
            texts[chunk] = shortened, document.original_source
    digests = {path.name: sha256_of(path) for path in (files.queries, files.corpus)}
    digests["records"] = records_digest(*digests.values())
    raw_questions, raw_corpus = (files.sampled / f"{x}_raw.json" for x in ("queries", "corpus"))
    originals = read_questions(raw_questions) if raw_questions.is_file() else []
    raw_documents = stream_documents(raw_corpus) if raw_corpus.is_file() else ()
    sidecar = read_json(files.sidecar) if files.sidecar.is_file() else {}
    judged = defaultdict[str, list[list[str]]](list)
    for each in records.judgements:
        row = [path_of(each.doc_id), each.decision, each.author, each.reason]
        judged[each.question_id].append(row)
    found = [_rows(folder / "findings.jsonl") for folder in (files.verified, files.audited)]
    return ReportedBenchmark(
        name=records.benchmark.name,
        language=records.benchmark.language,
        languages={name: source.language for name, source in sources.items()},
        questions=records.questions,
        judgements=judged,
        texts=texts,
        originals={q.question_id: (q.question, q.gold_answer) for q in originals},
        original_documents={
            d.doc_id: cut(d.content, GOLD) for d in raw_documents if d.doc_id in whole_gold
        },
        aliases=sidecar.get("aliases", {}) if isinstance(sidecar, dict) else {},
        findings=[row for rows in found for row in rows or ()],
        candidates=_rows(files.audited / "candidates.jsonl"),
        provenance=read_json(files.sources) if files.sources.is_file() else [],
        pool={source: (total[source], relevant[source]) for source in sorted(total)},
        digests=digests,
    )


def _rows(file: Path) -> list[dict[str, Any]] | None:
    return [row for _, row in read_lines(file)] if file.is_file() else None


def cut(text: str, longest: int) -> str:
    """Cut a text that is too long for the page."""
    return text if len(text) <= longest else f"{text[:longest]}…"
