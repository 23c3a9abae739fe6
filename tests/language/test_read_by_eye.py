"""Compare what the gates find in a weak translation with what a reader found in it.

tests/data/bears-27c6c30.labels.tsv names the texts of an earlier published BEARS: all 70 of its
translated questions and answers, every passage that a gate ever flagged, and 62 others by chance.
"""

from __future__ import annotations

import csv
import hashlib
from collections import defaultdict
from pathlib import Path

import pytest

from bears.config import read_mapping
from bears.evaluation.intervals import wilson
from bears.files.records import read_documents, read_questions
from bears.quality.verification.benchmark import TranslatedBenchmark
from bears.quality.verification.verify import verify
from bears.types import Finding
from tests.languages import CONF, load
from tests.workspace import ROOT

LABELS = ROOT / "tests" / "data" / "bears-27c6c30.labels.tsv"
Place = tuple[str, str]


@pytest.fixture(scope="module")
def findings(shared_data: Path) -> dict[Place, list[Finding]]:
    folder = shared_data / "bears-27c6c30"
    conf = read_mapping(CONF / "gates.yaml", "")
    benchmark = TranslatedBenchmark(
        read_questions(folder / "queries_raw.json"),
        read_documents(folder / "corpus_raw.json"),
        read_questions(folder / "queries.json"),
        read_documents(folder / "corpus.json"),
        shares=None,
        size=None,
        languages={"drcd": "zh-Hant-TW"} | dict.fromkeys(("squad", "hotpotqa", "2wiki"), "en"),
        target=load("zh-Hant-TW"),
        **conf,
    )
    found = defaultdict(list)
    for finding in verify(benchmark):
        found[finding.record_id, finding.field].append(finding)
    return found


def labels() -> dict[Place, str]:
    with LABELS.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return {(row["record_id"], row["field"]): row["verdict"] for row in rows}


def _half(place: Place) -> int:
    return hashlib.sha256(place[0].encode()).digest()[0] % 2


def _ratio(hits: int, n: int) -> str:
    low, high = wilson(hits, n)
    return f"{hits} of {n} ({low:.0%}–{high:.0%})"


@pytest.mark.slow
def test_every_text_that_a_gate_flags_was_read(findings: dict[Place, list[Finding]]) -> None:
    known = labels()
    flagged = {place for place, found in findings.items() for f in found if f.field}
    assert flagged <= known.keys()
    assert len(known) == 157


@pytest.mark.slow
@pytest.mark.parametrize("half", [0, 1, None])
def test_precision_and_recall_are_as_documented(
    findings: dict[Place, list[Finding]], half: int | None
) -> None:
    read = {place: v for place, v in labels().items() if half in (None, _half(place))}
    errors = {p for p in read if any(f.severity == "error" for f in findings.get(p, ()))}
    serious = {place for place, verdict in read.items() if verdict == "serious"}
    right = sum(read[place] != "sound" for place in errors)
    assert right / len(errors) >= 0.95
    row = [
        {0: "first half", 1: "second half", None: "both"}[half],
        _ratio(right, len(errors)),
        _ratio(len(serious & errors), len(serious)),
        _ratio(len(serious & findings.keys()), len(serious)),
    ]
    assert f"| {' | '.join(row)} |" in (ROOT / "docs" / "translation.md").read_text("utf-8")
