"""What the gates find in texts by people, and in a weak translation that a person has read.

tests/data/bears-27c6c30.labels.tsv names the texts of an earlier published BEARS: all 70 of its
translated questions and answers, every passage that a gate ever flagged, and 62 others by chance.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bears.config import read_mapping
from bears.evaluation.clusters import wilson
from bears.files.records import read_documents, read_questions
from bears.language.blocks import blocks
from bears.language.gates import GATES
from bears.language.text import Field, Text
from bears.quality.verification.structure import TranslatedBenchmark
from bears.quality.verification.verify import verify
from bears.types import Finding
from tests.languages import CONF, filler, load
from tests.workspace import ROOT

OF_THE_SOURCE = {"numbers", "changed_number", "invented_name", "question_kind", "unfinished"}
"""A filler does not have what these gates need, so the text is its own source."""
TABLE = re.compile(r"^\| (.+?) \| (\w\S*) \| ([\d,]+) \| (\d+): (.*) \| (\S+)–(\S+) % \|$", re.M)


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def texts_of(shared: Path, name: str) -> list[str]:
    """Return the texts of one row of the table, by its name there."""
    if name.startswith("DRCD"):
        articles = json.loads((shared / "raw/drcd.json").read_bytes())
        paragraphs = [p for article in articles for p in article["paragraphs"]]
        questions = [qa["question"] for p in paragraphs for qa in p["qas"]]
        return [p["context"] for p in paragraphs] if name == "DRCD paragraphs" else questions
    if name.startswith("PandaChat"):
        rows = json.loads((shared / "pandachat/pandachat-rag-si-dataset.json").read_bytes())
        pages = list({row["document"]: row["text_without_Q"] for row in rows}.values())
        return pages if name == "PandaChat pages" else [row["query"] for row in rows]
    files = {"documents": "documents", "questions": "validation_eval_199_with_docid"}
    rows = lines(shared / f"science_ko/{files.get(name.split()[-1], 'eval')}.jsonl")
    return [row["content"] if "content" in row else row["msg"][-1]["content"] for row in rows]


# Its file is read anew whenever it is asked for.
once = cache(load)


def flags(text: str, field: Field, tag: str) -> Counter[str]:
    """Count the gates that flag a native text."""
    language = once(tag)
    sources = {gate: text if gate in OF_THE_SOURCE else filler(text, language) for gate in GATES}
    return Counter(
        gate
        for gate, judge in GATES.items()
        if judge(Text(field, sources[gate], text, "en", tag), language)
    )


@pytest.mark.slow
def test_the_table_of_false_alarms_is_what_the_gates_say_of_the_native_sets(
    shared_data: Path,
) -> None:
    rows = TABLE.findall((ROOT / "docs/translation.md").read_text("utf-8"))
    assert {tag for _, tag, *_ in rows} == {"ko", "sl", "zh-Hant-TW"}
    for name, tag, n, flagged, which, low, high in rows:
        texts = texts_of(shared_data, name)
        field: Field = (
            "content" if name.split()[-1] in ("documents", "pages", "paragraphs") else "question"
        )
        found = [counts for text in texts if (counts := flags(text, field, tag))]
        by_gate = sum(found, Counter()).most_common()
        interval = [f"{100 * end:.2f}" for end in wilson(len(found), len(texts))]
        listed = ", ".join(f"{gate} {times}" for gate, times in by_gate) or "none"
        expected = (f"{len(texts):,}", str(len(found)), listed, *interval)
        assert (n, flagged, which, low, high) == expected, name
        assert load(tag).calibrated_on


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("merge sort 알고리즘에 대해 설명해줘.", True),
        ("그 원리가 궁금해.", True),
        ("오늘 너무 즐거웠다!", False),
    ],
)
def test_a_korean_request_for_an_explanation_is_a_question(text: str, asks: bool) -> None:
    assert load("ko").mood.asks(text) is asks


# ------------------------------------------------------- a weak translation, read by a person

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


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("Title\n=====\n\nA text.", ["Title\n====="]),
        ("One line\nand another\n=====", []),
        ("# A\n## B\ntext\n#no", ["# A", "## B"]),
        ("```\n# code\n```\n", []),
        ("=====", []),
    ],
)
def test_headings_are_those_of_markdown(text: str, headings: list[str]) -> None:
    found = [text[each.start : each.end] for each in blocks(text) if each.heading]
    assert found == headings
