"""verify: the translated benchmark against the sampled one → findings; errors stop the pipeline."""

from __future__ import annotations

import sys
from dataclasses import asdict

from bears.configuration import Config, parse
from bears.errors import FormatError, VerificationFailed
from bears.formats.digest import digest_files
from bears.formats.records import (
    read_documents,
    read_json,
    read_questions,
    write_json,
    write_lines,
)
from bears.language.profile import Language
from bears.pipeline import Paths, exit_with
from bears.types import Finding
from bears.verification.benchmark import Benchmark
from bears.verification.verify import Acceptance, reviewed, summarise, verify


def main(config: Config, paths: Paths) -> None:
    """Write every finding, then fail when one of them is an error."""
    (paths["out"] / "digest.json").unlink(missing_ok=True)
    accepted = [
        parse(Acceptance, entry, f"benchmark.accept.{i}")
        for i, entry in enumerate(config["benchmark"]["accept"])
    ]
    accepted += reviewed(config["ledger"]["reviews"])
    benchmark = None
    try:
        benchmark = _benchmark(config, paths)
        findings = verify(benchmark, accepted)
    except FormatError as error:
        findings = [Finding("format", "error", "file", str(error))]
    write_lines(paths["out"] / "findings.jsonl", (asdict(finding) for finding in findings))
    write_json(paths["metrics"], summarise(findings, benchmark))
    for finding in findings:
        line = f"{finding.severity}: {finding.check}: {finding.record_id}: {finding.message}"
        print(line, file=sys.stderr if finding.severity == "error" else sys.stdout)
    if errors := sum(finding.severity == "error" for finding in findings):
        raise VerificationFailed(
            f"{errors} findings of severity error (above, and in {paths['out']}/findings.jsonl); "
            "mend the records through the ledger or the memory, or accept a finding with its "
            "reason under benchmark.accept in conf/benchmark/"
        )
    files = [paths["translated"] / name for name in ("queries.json", "corpus.json")]
    write_json(paths["out"] / "digest.json", digest_files(files))


def _benchmark(config: Config, paths: Paths) -> Benchmark:
    recipe = config["sample"]
    return Benchmark(
        raw_questions=read_questions(paths["sampled"] / "queries_raw.json"),
        raw_documents=read_documents(paths["sampled"] / "corpus_raw.json"),
        questions=read_questions(paths["translated"] / "queries.json"),
        documents=read_documents(paths["translated"] / "corpus.json"),
        shares={share["source"]: share["questions"] for share in recipe["sources"]},
        size=recipe["documents"],
        languages={name: source["language"] for name, source in config["sources"].items()},
        target=parse(Language, config["language"], "language"),
        unmatched=read_json(paths["sampled"] / "notes.json")["unmatched_ledger_entries"],
        gates=config["gates"],
        bundle_gates=config["bundle_gates"],
        terms=read_json(paths["translated"] / "sidecar.json")["terms"],
    )


if __name__ == "__main__":
    exit_with("verify", main)
