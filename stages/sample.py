"""sample: rows → questions and documents in their source languages."""

from __future__ import annotations

import sys

from bears.configuration import Config, parse
from bears.formats.records import write_json, write_lines, write_records
from bears.formats.rows import open_rows
from bears.pipeline import Paths, exit_with
from bears.sampling.ledger import Ledger
from bears.sampling.recipe import Recipe
from bears.sampling.sample import count_reasons, sample


def main(config: Config, paths: Paths) -> None:
    """Draw the benchmark's questions and documents with one seeded generator."""
    recipe = parse(Recipe, config["sample"], "sample")
    ledger = parse(Ledger, config["ledger"], "ledger")
    sources = {path.stem: open_rows(path) for path in sorted(paths["rows"].glob("*.jsonl"))}
    drawn = sample(recipe, sources, ledger)
    write_records(paths["out"] / "queries_raw.json", drawn.questions)
    write_records(paths["out"] / "corpus_raw.json", drawn.documents)
    write_lines(paths["out"] / "lineage.jsonl", drawn.lineage)
    counts = count_reasons(drawn.passed_over)
    notes = {
        "passed_over": counts,
        "passed_over_rows": drawn.passed_over,
        "unmatched_ledger_entries": drawn.unmatched,
    }
    write_json(paths["out"] / "notes.json", notes)
    print(f"{len(drawn.questions)} questions, {len(drawn.documents)} documents")
    for source, reasons in counts.items():
        for reason, count in reasons.items():
            print(f"{source}: passed over {count}: {reason}")
    for record_id in drawn.unmatched:
        print(f"ledger: no record {record_id} in this sample", file=sys.stderr)


if __name__ == "__main__":
    exit_with("sample", main)
