"""audit: the verified benchmark → documents that may answer too, and odd findings."""

from dataclasses import asdict, dataclass

from bears.config.ledger.entries import Acceptances, Judgements, accept
from bears.config.pipeline import Paths, exit_with
from bears.config.shape import BenchmarkIdentity, Choice, Source
from bears.config.typed import build
from bears.files.records import check_digest, read_folder, write_json, write_lines
from bears.language.tags import languages_of
from bears.quality.audit.audit import audit as find
from bears.quality.audit.audit import summarize
from bears.quality.audit.audit_pool import AuditPool, AuditSettings
from bears.quality.verification.outcome import conclude
from bears.retrieval.chunking import chunks
from bears.retrieval.chunking.judged import ChunksOfDocuments
from bears.retrieval.retriever import Query, Stopwatch, searcher_of
from bears.retrieval.sparse.bm25 import BM25Searcher


@dataclass(frozen=True)
class AuditPart:
    """How the audit searches, and the limits of its signals: conf/audit.yaml."""

    retriever: Choice
    signals: AuditSettings


def main(
    paths: Paths,
    *,
    accepted: Acceptances,
    audit: AuditPart,
    benchmark: BenchmarkIdentity,
    judgements: Judgements,
    passages: Choice,
    sources: dict[str, Source],
    translated_into: str,
) -> None:
    """Write candidates and findings; fail if the translation has broken something.

    People decide about the candidates: `bears judgements pool --systems audit`.
    """
    for name in ("queries.json", "corpus.json"):
        check_digest(paths["translated"] / name, paths["verified"])
    settings = audit.signals
    asked, whole = read_folder(paths["translated"])
    documents = [*chunks(whole, build(passages, "passages"))]
    chunks_of = {each.doc_id: each.chunk for each in documents}
    cut = ChunksOfDocuments(whole, chunks_of.values())
    questions = cut.questions(asked)
    searcher = searcher_of(build(audit.retriever, "audit.retriever"), documents)
    assert isinstance(searcher, BM25Searcher)
    raw = read_folder(paths["sampled"], raw=True)
    names = {question.source_dataset for question in raw[0]}
    languages = languages_of(sources, names, benchmark.language, translated_into)
    now = benchmark.language
    pool = AuditPool(questions, documents, *raw, searcher.weights, languages, now)
    queries = [Query(question.question, question.group) for question in questions]
    found = searcher.search(queries, settings.depth, Stopwatch())
    rankings = {
        question.question_id: [hit.doc_id for hit in ranking]
        for question, ranking in zip(questions, found, strict=True)
    }
    audited = find(pool, rankings, settings, cut.decisions(judgements))
    findings = accept(audited.findings, accepted)
    rows = ({**asdict(each), **asdict(chunks_of[each.doc_id])} for each in audited.candidates)
    write_lines(paths["out"] / "candidates.jsonl", rows)
    write_lines(paths["out"] / "findings.jsonl", map(asdict, findings))
    write_json(paths["metrics"], summarize(audited, findings, pool))
    undecided = sum(not candidate.decision for candidate in audited.candidates)
    warnings = sum(finding.severity == "warning" for finding in findings)
    file = paths["out"] / "findings.jsonl"
    print(
        f"{len(audited.candidates)} documents may answer a question, {undecided} undecided; "
        f"{warnings} findings to look at, in {file}"
    )
    # The others are for a look at the file.
    conclude([each for each in findings if each.severity == "error"], file)


if __name__ == "__main__":
    exit_with("audit", main)
