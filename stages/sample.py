"""sample: rows → questions and documents in their source languages."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bears.config.ledger.entries import Edits, Ledger, Replacements, Reviews
from bears.config.pipeline import Paths, exit_with
from bears.config.shape import BenchmarkIdentity, Choice, Section, Source, WrittenIn
from bears.config.typed import configured
from bears.files.records import write_json, write_lines, write_records
from bears.files.rows import sources_in
from bears.files.shown import complain
from bears.files.spreadsheet import write_csv
from bears.layout import replies_below
from bears.sampling.mixture import Mixture, sampler_of
from bears.sampling.sample import count_reasons
from bears.sampling.sample import sample as draw
from bears.sampling.whole import Whole, sample_whole
from bears.types import Document, Question


def main(
    paths: Paths,
    *,
    benchmark: BenchmarkIdentity,
    edits: Edits,
    language: Choice,
    passages: Choice,
    questioner: Choice,
    replacements: Replacements,
    reviews: Reviews,
    sample: Section,
    sources: dict[str, Source],
    written_in: WrittenIn,
) -> None:
    """Draw the benchmark from its sources, take a source as it is, or replay made questions."""
    sampler, ledger = sampler_of(sample), Ledger(replacements, edits)
    if isinstance(sampler, Mixture):
        _draw(sampler, paths, ledger)
    elif isinstance(sampler, Whole):
        _take(sampler, paths, sources, ledger)
    else:
        keys = {
            "edits": edits,
            "language": language,
            "passages": passages,
            "questioner": questioner,
            "replacements": replacements,
            "reviews": reviews,
            "sample": sample,
            "written_in": written_in,
        }
        _make(keys, paths, benchmark.name, sources)


def _draw(mixture: Mixture, paths: Paths, ledger: Ledger) -> None:
    drawn = draw(mixture, sources_in(paths["rows"]), ledger)
    notes = {
        "passed_over": count_reasons(drawn.passed_over),
        "passed_over_rows": drawn.passed_over,
        "unmatched_ledger_entries": drawn.unmatched,
    }
    n = len(drawn.documents)
    _write(paths["out"], drawn.questions, drawn.documents, n, drawn.lineage, notes, ledger)
    for record_id in drawn.unmatched:
        complain(f"ledger: no record {record_id} in this sample")


def _take(whole: Whole, paths: Paths, sources: Mapping[str, Source], ledger: Ledger) -> None:
    taken = sample_whole(whole, sources_in(paths["rows"]), ledger)
    lineage = taken.lineage(sources[whole.source].licence)
    notes = {
        "passed_over": {whole.source: taken.passed_over} if taken.passed_over else {},
        "judged_without_relevant": taken.unjudged,
        "unmatched_ledger_entries": [],
    }
    n = taken.n_documents
    _write(paths["out"], taken.questions, taken.documents(), n, lineage, notes, ledger)


def _make(keys: Mapping[str, Any], paths: Paths, name: str, sources: Mapping[str, Source]) -> None:
    """Replay made questions, without key or network unless the questioner has ``fill: auto``."""
    # These imports take half a second, which a benchmark with people's questions does not need.
    from bears.llm.workflow import Workflow
    from bears.questions.bench import COLUMNS, made, read_bench

    bench, out = configured(read_bench, keys)(paths["rows"]), paths["out"]
    questions, checks = (
        replies_below(paths["replies"], name, use) for use in ("questions", "checks")
    )
    written = Workflow(bench.questions, questions).replay()
    found = made(bench, written, Workflow(bench.readings(written), checks).replay())
    lineage = found.lineage(sources[bench.settings.source].licence)
    notes = {"generated": found.counts, "unmatched_ledger_entries": found.unmatched}
    write_csv(out / "not_kept.csv", COLUMNS, found.table())
    n = len(found.documents)
    _write(out, found.questions, found.documents, n, lineage, notes, bench.ledger)
    for outcome, reasons in found.counts.items():
        for reason, count in reasons.items():
            print(f"{outcome}: {count}: {reason}")


def _write(
    out: Path,
    questions: Sequence[Question],
    documents: Iterable[Document],
    n_documents: int,
    lineage: Iterable[Mapping[str, Any]],
    notes: Mapping[str, Any],
    ledger: Ledger,
) -> None:
    """Write the sample, and notes on it with the decisions that it follows; print its size."""
    write_records(out / "queries_raw.json", questions)
    write_records(out / "corpus_raw.json", documents)
    write_lines(out / "lineage.jsonl", lineage)
    changes = ledger.changes()
    write_json(out / "notes.json", {**notes, "ledger": changes} if changes else notes)
    print(f"{len(questions)} questions, {n_documents} documents")
    for source, reasons in notes.get("passed_over", {}).items():
        for reason, count in reasons.items():
            print(f"{source}: skipped {count}: {reason}")


if __name__ == "__main__":
    exit_with("sample", main)
