"""verify: the translated benchmark against the sampled one → findings; errors stop the pipeline."""

from dataclasses import asdict

from bears.config.ledger.entries import Acceptances, Judgements, Reviews
from bears.config.pipeline import Paths, exit_with
from bears.config.shape import BenchmarkIdentity, Section, Source
from bears.errors import FormatError
from bears.files.records import (
    digest_files,
    read_documents,
    read_folder,
    read_json,
    read_questions,
    sha256_of,
    write_json,
    write_lines,
)
from bears.language.gates import GateSeverity, Severity
from bears.language.profile import Language
from bears.language.tags import languages_of
from bears.quality.verification.outcome import conclude
from bears.quality.verification.structure import TranslatedBenchmark
from bears.quality.verification.texts import LEAST_TERMS
from bears.quality.verification.verify import reviewed, summarize, verify
from bears.sampling.mixture import Mixture, sampler_of
from bears.types import Document, Finding


def main(
    paths: Paths,
    *,
    accepted: Acceptances,
    benchmark: BenchmarkIdentity,
    bundle_gates: dict[str, Severity],
    gates: dict[str, GateSeverity],
    judgements: Judgements,
    language: Language,
    reviews: Reviews,
    sample: Section,
    sources: dict[str, Source],
) -> None:
    """Write every finding, then fail when one of them is an error."""
    (paths["out"] / "digest.json").unlink(missing_ok=True)
    translated = None
    try:
        raw_questions, raw_documents = read_folder(paths["sampled"], raw=True)
        documents = _translated(paths, raw_documents)
        sidecar = read_json(paths["translated"] / "sidecar.json")
        names = {
            *(question.source_dataset for question in raw_questions),
            *(document.original_source for document in raw_documents),
        }
        sampler = sampler_of(sample)
        drawn = sampler if isinstance(sampler, Mixture) else None
        translated = TranslatedBenchmark(
            raw_questions=raw_questions,
            raw_documents=raw_documents,
            questions=read_questions(paths["translated"] / "queries.json"),
            documents=documents,
            shares={each.source: each.questions for each in drawn.sources} if drawn else None,
            size=drawn.documents if drawn else None,
            languages=languages_of(sources, names, benchmark.language, language.name),
            target=language,
            written_in=benchmark.language,
            gates=gates,
            bundle_gates=bundle_gates,
            terms=sidecar["terms"],
            doubts=sidecar["doubts"],
            judgements=judgements,
        )
        findings = verify(translated, [*accepted, *reviewed(reviews)])
    except FormatError as error:
        findings = [Finding("format", "error", "file", str(error))]
    write_lines(paths["out"] / "findings.jsonl", (asdict(finding) for finding in findings))
    summary = summarize(findings, translated)
    sizes = {"questions": len(translated.questions)} if translated else {}
    write_json(paths["metrics"], {"benchmark": benchmark.name, **sizes, **summary})
    if 0 < summary.get("terms", 0) < LEAST_TERMS:
        print(f"term_consistency: {summary['terms']} terms, fewer than {LEAST_TERMS}: no figure")
    conclude(findings, paths["out"] / "findings.jsonl")
    files = [paths["translated"] / name for name in ("queries.json", "corpus.json")]
    write_json(paths["out"] / "digest.json", digest_files(files))


def _translated(paths: Paths, raw: list[Document]) -> list[Document]:
    """Return the translated documents, or ``raw`` itself if no document was translated.

    A corpus that fits into memory once may not fit twice.
    """
    before, after = paths["sampled"] / "corpus_raw.json", paths["translated"] / "corpus.json"
    if before.is_file() and after.is_file() and sha256_of(before) == sha256_of(after):
        return raw
    return read_documents(after)


if __name__ == "__main__":
    exit_with("verify", main)
