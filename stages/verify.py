"""verify: the translated benchmark against the sampled one → findings; errors stop the pipeline."""

from collections import Counter
from dataclasses import asdict
from itertools import islice

from bears.config import Config, parse
from bears.config.ledger.acceptance import acceptances
from bears.config.ledger.entries import reviews_of
from bears.config.pipeline import Paths, exit_with
from bears.errors import FormatError, VerificationFailed
from bears.files.digest import digest_files, sha256_of
from bears.files.records import (
    read_documents,
    read_json,
    read_questions,
    write_json,
    write_lines,
)
from bears.files.shown import complain, one_line
from bears.language.profile import Language
from bears.language.tags import languages_of
from bears.quality.verification.benchmark import TranslatedBenchmark
from bears.quality.verification.bundles import LEAST_TERMS
from bears.quality.verification.verify import reviewed, summarise, verify
from bears.types import Document, Finding

# Findings of one kind that are printed.
SHOWN = 20


def main(config: Config, paths: Paths) -> None:
    """Write every finding, then fail when one of them is an error."""
    (paths["out"] / "digest.json").unlink(missing_ok=True)
    accepted = acceptances(config["benchmark"]["accept"])
    accepted += reviewed(reviews_of(config["ledger"]["reviews"]))
    benchmark = None
    try:
        benchmark = _benchmark(config, paths)
        read = _read(config, paths, benchmark)
        findings = verify(benchmark, accepted, read)
    except FormatError as error:
        findings = [Finding("format", "error", "file", str(error))]
    write_lines(paths["out"] / "findings.jsonl", (asdict(finding) for finding in findings))
    summary = summarise(findings, benchmark)
    sizes = {"questions": len(benchmark.questions)} if benchmark else {}
    write_json(paths["metrics"], {"benchmark": config["benchmark"]["name"], **sizes, **summary})
    _print(findings)
    if 0 < summary.get("terms", 0) < LEAST_TERMS:
        print(f"term_consistency: {summary['terms']} terms, fewer than {LEAST_TERMS}: no figure")
    if errors := sum(finding.severity == "error" for finding in findings):
        raise VerificationFailed(
            f"{errors} findings of severity error (above, and in {paths['out']}/findings.jsonl); "
            "mend the records through the ledger or the memory, or accept a finding with its "
            "reason under benchmark.accept in conf/benchmark/"
        )
    files = [paths["translated"] / name for name in ("queries.json", "corpus.json")]
    write_json(paths["out"] / "digest.json", digest_files(files))


def _read(config: Config, paths: Paths, b: TranslatedBenchmark) -> list[Finding]:
    """What a model that read the translations said of them."""
    if config["reader"]["name"] == "none":
        return []
    from bears.llm.workflow import Workflow
    from bears.translation.reading import read_task

    raw, translated = (b.raw_questions, b.raw_documents), (b.questions, b.documents)
    task = read_task(config, raw, translated)
    memory = paths["memory"] / f"{config['benchmark']['name']}.proofreadings.jsonl"
    return task.findings(Workflow(task, memory).replay())


def _print(findings: list[Finding]) -> None:
    """Print findings, of one kind no more than a person reads; the file has them all."""
    for (check, severity), number in Counter((f.check, f.severity) for f in findings).items():
        tell = complain if severity == "error" else print
        same = (f for f in findings if (f.check, f.severity) == (check, severity))
        for finding in islice(same, SHOWN):
            place = ": ".join(filter(None, (one_line(finding.record_id), finding.field)))
            tell(f"{severity}: {check}: {place}: {finding.message}")
        if number > SHOWN:
            tell(f"{severity}: {check}: … and {number - SHOWN} more")


def _benchmark(config: Config, paths: Paths) -> TranslatedBenchmark:
    raw_questions = read_questions(paths["sampled"] / "queries_raw.json")
    raw_documents = read_documents(paths["sampled"] / "corpus_raw.json")
    documents = _translated(paths, raw_documents)
    sidecar = read_json(paths["translated"] / "sidecar.json")
    names = {
        *(question.source_dataset for question in raw_questions),
        *(document.original_source for document in raw_documents),
    }
    target = parse(Language, config["language"], "language")
    kept = config["benchmark"]["language"]
    whole = config["sample"]["sampler"] in ("whole", "made")
    return TranslatedBenchmark(
        raw_questions=raw_questions,
        raw_documents=raw_documents,
        questions=read_questions(paths["translated"] / "queries.json"),
        documents=documents,
        shares=None
        if whole
        else {one["source"]: one["questions"] for one in config["sample"]["sources"]},
        size=None if whole else config["sample"]["documents"],
        languages=languages_of(config["sources"], names, kept, target.name),
        target=target,
        written_in=kept,
        unmatched=read_json(paths["sampled"] / "notes.json")["unmatched_ledger_entries"],
        gates=config["gates"],
        bundle_gates=config["bundle_gates"],
        terms=sidecar["terms"],
        doubts=sidecar["doubts"],
    )


def _translated(paths: Paths, raw: list[Document]) -> list[Document]:
    """The translated documents; ``raw`` again where nothing was to be translated, since a corpus
    that fits into memory once need not fit twice."""
    before, after = paths["sampled"] / "corpus_raw.json", paths["translated"] / "corpus.json"
    if before.is_file() and after.is_file() and sha256_of(before) == sha256_of(after):
        return raw
    return read_documents(after)


if __name__ == "__main__":
    # With fill: auto what is bought is published.
    exit_with("verify", main, updates=["memory"])
