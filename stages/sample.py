"""sample: rows → questions and documents in their source languages."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bears.config import Config, parse
from bears.config.ledger.entries import Ledger
from bears.config.pipeline import Paths, exit_with
from bears.files.records import write_json, write_lines, write_records
from bears.files.rows import SourceRecords, sources_in
from bears.files.shown import complain
from bears.files.spreadsheet import write_csv
from bears.sampling.mixture import Mixture
from bears.sampling.sample import count_reasons, sample
from bears.sampling.whole import WholeSettings, sample_whole
from bears.types import Document, Question


def main(config: Config, paths: Paths) -> None:
    """Draw the benchmark's questions and documents, take those of others, or have them made."""
    if config["sample"]["sampler"] == "made":
        _make(config, paths)
        return
    kept = {name: config["ledger"][name] for name in ("edits", "replacements")}
    ledger = parse(Ledger, kept, "ledger")
    sources = sources_in(paths["rows"])
    if config["sample"]["sampler"] == "whole":
        _take(config, sources, ledger, paths["out"])
    else:
        _draw(config, sources, ledger, paths["out"])


def _draw(config: Config, sources: Mapping[str, SourceRecords], ledger: Ledger, out: Path) -> None:
    drawn = sample(parse(Mixture, config["sample"], "sample"), sources, ledger)
    _write(out, drawn.questions, drawn.documents, drawn.lineage)
    counts = count_reasons(drawn.passed_over)
    notes = {
        "passed_over": counts,
        "passed_over_rows": drawn.passed_over,
        "unmatched_ledger_entries": drawn.unmatched,
    }
    _note(out, notes | _merged(drawn.merged), ledger)
    _report(len(drawn.questions), len(drawn.documents), counts, drawn.merged)
    for record_id in drawn.unmatched:
        complain(f"ledger: no record {record_id} in this sample")


def _take(config: Config, sources: Mapping[str, SourceRecords], ledger: Ledger, out: Path) -> None:
    settings = parse(WholeSettings, config["sample"], "sample")
    taken = sample_whole(settings, sources, ledger)
    licence = config["sources"][settings.source]["licence"]
    _write(out, taken.questions, taken.documents(), taken.lineage(licence))
    counts = {settings.source: taken.passed_over} if taken.passed_over else {}
    notes = {
        "passed_over": counts,
        "judged_without_relevant": taken.unjudged,
        "unmatched_ledger_entries": [],
    }
    merged = {settings.source: taken.merged} if taken.merged else {}
    _note(out, notes | _merged(merged), ledger)
    _report(len(taken.questions), taken.n_documents, counts, merged)


def _make(config: Config, paths: Paths) -> None:
    """Replay what a model wrote about documents; needs no key, unless it says fill: auto."""
    # Half a second that a benchmark with questions of people does not spend.
    from bears.llm.workflow import Workflow
    from bears.questions.bench import read_bench
    from bears.questions.made import COLUMNS, made

    bench = read_bench(config, paths["rows"])
    name, out = config["benchmark"]["name"], paths["out"]
    questions = paths["memory"] / f"{name}.questions.jsonl"
    readings = paths["memory"] / f"{name}.checks.jsonl"
    written = Workflow(bench.questions, questions).replay()
    task = bench.readings(written)
    found = made(bench, written, Workflow(task, readings).replay())
    licence = config["sources"][bench.settings.source]["licence"]
    _write(out, found.questions, found.documents, found.lineage(licence))
    notes = {"generated": found.counts, "unmatched_ledger_entries": found.unmatched}
    _note(out, notes, bench.ledger)
    write_csv(out / "not_kept.csv", COLUMNS, found.table())
    _report(len(found.questions), len(found.documents), {}, {})
    for outcome, reasons in found.counts.items():
        for reason, count in reasons.items():
            print(f"{outcome}: {count}: {reason}")


def _merged(merged: Mapping[str, int]) -> dict[str, Any]:
    return {"merged_paragraphs": merged} if merged else {}


def _note(out: Path, notes: Mapping[str, Any], ledger: Ledger) -> None:
    """Write what is known of the sample beside its records, and what of the ledger it follows."""
    changes = ledger.changes()
    write_json(out / "notes.json", {**notes, "ledger": changes} if changes else notes)


def _write(
    out: Path,
    questions: Iterable[Question],
    documents: Iterable[Document],
    lineage: Iterable[Mapping[str, Any]],
) -> None:
    write_records(out / "queries_raw.json", questions)
    write_records(out / "corpus_raw.json", documents)
    write_lines(out / "lineage.jsonl", lineage)


def _report(
    questions: int,
    documents: int,
    counts: Mapping[str, Mapping[str, int]],
    merged: Mapping[str, int],
) -> None:
    print(f"{questions} questions, {documents} documents")
    for source, reasons in counts.items():
        for reason, count in reasons.items():
            print(f"{source}: passed over {count}: {reason}")
    for source, count in merged.items():
        print(
            f"{source}: merged {count}: the paragraph has the text of another one that has "
            "another title, and both are one document"
        )


if __name__ == "__main__":
    # With fill: auto what is bought is published.
    exit_with("sample", main, updates=["memory"])
