"""sample: rows → questions and documents in their source languages."""

from collections.abc import Mapping
from typing import Any

from bears.config.ledger.entries import Edits, Ledger, Replacements, Reviews
from bears.config.pipeline import Paths, exit_with
from bears.config.shape import BenchmarkIdentity, Choice, Section, Source, WrittenIn
from bears.config.typed import configured
from bears.files.records import document_count, write_json, write_lines, write_records
from bears.files.rows import sources_in
from bears.files.shown import complain
from bears.files.spreadsheet import write_csv
from bears.layout import replies_below
from bears.sampling.lineage import Sample
from bears.sampling.mixture import Mixture, sampler_of
from bears.sampling.sample import sample as draw
from bears.sampling.whole import Whole, sample_whole


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
    sampler, ledger, out = sampler_of(sample), Ledger(replacements, edits), paths["out"]
    drawn: Sample[Any]
    if isinstance(sampler, Mixture):
        drawn = draw(sampler, sources_in(paths["rows"]), ledger)
    elif isinstance(sampler, Whole):
        rows, licence = sources_in(paths["rows"]), sources[sampler.source].licence
        drawn = sample_whole(sampler, rows, ledger, licence)
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
        drawn, ledger = _made(keys, paths, benchmark.name, sources)
    write_records(out / "queries_raw.json", drawn.questions)
    write_records(out / "corpus_raw.json", drawn.documents)
    write_lines(out / "lineage.jsonl", drawn.lineage)
    notes, changes = drawn.notes, ledger.changes()
    write_json(out / "notes.json", {**notes, "ledger": changes} if changes else notes)
    n_documents = document_count(out / "corpus_raw.json")
    print(f"{len(drawn.questions)} questions, {n_documents} documents")
    for source, reasons in notes.get("passed_over", {}).items():
        for reason, count in reasons.items():
            print(f"{source}: skipped {count}: {reason}")
    for record_id in notes["unmatched_ledger_entries"]:
        complain(f"ledger: no record {record_id} in this sample")


def _made(
    keys: Mapping[str, Any], paths: Paths, name: str, sources: Mapping[str, Source]
) -> tuple[Sample, Ledger]:
    """Replay made questions, without key or network unless the questioner has ``fill: auto``."""
    # These imports take half a second, which a benchmark with people's questions does not need.
    from bears.llm.workflow import Workflow
    from bears.questions.bench import COLUMNS, made, not_kept, read_bench

    bench = configured(read_bench, keys)(paths["rows"])
    questions, checks = (
        replies_below(paths["replies"], name, use) for use in ("questions", "checks")
    )
    written = Workflow(bench.questions, questions).replay()
    read = Workflow(bench.readings(written), checks).replay()
    drawn, sifted = made(bench, written, read, sources[bench.settings.source].licence)
    write_csv(paths["out"] / "not_kept.csv", COLUMNS, not_kept(sifted))
    for outcome, reasons in drawn.notes["generated"].items():
        for reason, count in reasons.items():
            print(f"{outcome}: {count}: {reason}")
    return drawn, bench.ledger


if __name__ == "__main__":
    exit_with("sample", main)
