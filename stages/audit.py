"""audit: the verified benchmark → documents that may answer too, and what else is odd."""

import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bears.config import Config, build, parse
from bears.config.ledger.acceptance import accept, acceptances
from bears.config.ledger.entries import judgements_of
from bears.config.pipeline import Paths, exit_with
from bears.errors import VerificationFailed
from bears.files.digest import check_digest
from bears.files.records import read_documents, read_questions, write_json, write_lines
from bears.files.shown import complain, one_line
from bears.language.tags import languages_of
from bears.quality.audit.audit import Audit, audit, summarise
from bears.quality.audit.candidates import AuditSettings
from bears.quality.audit.pool import AuditPool
from bears.retrieval.retriever import Query
from bears.retrieval.sparse.bm25 import BM25Searcher
from bears.retrieval.stopwatch import Stopwatch
from bears.types import Document, Finding, Question

BATCH = 64


def main(config: Config, paths: Paths) -> None:
    """Write candidates and findings; fail on what only the translation can have broken.

    Nothing is decided here: people decide, in the table of `python -m bears memory review`.
    """
    for name in ("queries.json", "corpus.json"):
        check_digest(paths["translated"] / name, paths["verified"])
    settings = parse(AuditSettings, config["audit"]["signals"], "audit.signals")
    accepted = acceptances(config["benchmark"]["accept"])
    questions = read_questions(paths["translated"] / "queries.json")
    documents = read_documents(paths["translated"] / "corpus.json")
    searcher = _indexed(config, documents)
    pool = _pool(config, paths, questions, documents, searcher)
    rankings = _rankings(searcher, questions, settings.depth)
    judgements = judgements_of(config["ledger"]["judgements"])
    found = audit(pool, rankings, settings, judgements)
    findings = accept(found.findings, accepted)
    write_lines(paths["out"] / "candidates.jsonl", map(asdict, found.candidates))
    write_lines(paths["out"] / "findings.jsonl", map(asdict, findings))
    write_json(paths["metrics"], summarise(found, findings, pool))
    _tell(found, findings, paths["out"])


def _tell(found: Audit, findings: Sequence[Finding], out: Path) -> None:
    undecided = sum(not one.decision for one in found.candidates)
    odd = sum(finding.severity == "warning" for finding in findings)
    print(
        f"{len(found.candidates)} documents may answer a question, {undecided} undecided; ", end=""
    )
    print(f"{odd} findings to look at, in {out}/findings.jsonl")
    for finding in findings:
        if finding.check == "decision_without_record":
            complain(f"audit: warning: {one_line(finding.record_id)}: {finding.message}")
    errors = [finding for finding in findings if finding.severity == "error"]
    for finding in errors:
        complain(f"error: {finding.check}: {one_line(finding.record_id)}: {finding.message}")
    if errors:
        raise VerificationFailed(
            f"{len(errors)} findings of severity error (above); correct the translation through "
            "the ledger or the memory, or accept a finding with its reason under benchmark.accept"
        )


def _indexed(config: Config, documents: Sequence[Document]) -> BM25Searcher:
    retriever = build(config["audit"]["retriever"], "audit.retriever")
    with tempfile.TemporaryDirectory(prefix="bears-audit-") as name:
        retriever.index(documents, Path(name), Path(name))
        # What is mapped into memory outlives its name.
        searcher: BM25Searcher = retriever.open(Path(name))
    return searcher


def _rankings(
    searcher: BM25Searcher, questions: Sequence[Question], depth: int
) -> dict[str, list[str]]:
    found = {}
    for start in range(0, len(questions), BATCH):
        some = questions[start : start + BATCH]
        queries = [Query(question.question, question.group) for question in some]
        rankings = searcher.search(queries, depth, Stopwatch())
        for question, ranking in zip(some, rankings, strict=True):
            found[question.question_id] = [hit.doc_id for hit in ranking]
    return found


def _pool(
    config: Config,
    paths: Paths,
    questions: Sequence[Question],
    documents: Sequence[Document],
    searcher: BM25Searcher,
) -> AuditPool:
    raw_questions = read_questions(paths["sampled"] / "queries_raw.json")
    raw_documents = read_documents(paths["sampled"] / "corpus_raw.json")
    names = {question.source_dataset for question in raw_questions}
    kept = config["benchmark"]["language"]
    languages = languages_of(config["sources"], names, kept, config["language"]["name"])
    return AuditPool(
        questions, documents, raw_questions, raw_documents, searcher.weights, languages, kept
    )


if __name__ == "__main__":
    exit_with("audit", main)
