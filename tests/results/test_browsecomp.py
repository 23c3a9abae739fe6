"""Run files of BrowseComp-Plus, with its real judgements, against a program of the test's own."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import pytest

from bears.cli import main
from bears.evaluation.answers.confidence import calibration_errors
from bears.evaluation.repeats import repeats_of
from bears.evaluation.trace_measures import trace_values
from bears.files.records import write_json, write_records
from bears.files.traces import read_traces
from bears.types import Document, Question

N = 350


def run_file(random: Random, query: str, gold: list[str], number: int) -> dict[str, Any]:
    """Return a run of the shape that the repository's agents write."""
    result: list[dict[str, Any]] = []
    seen: list[str] = []
    searches = random.randint(0, 5)
    for _ in range(searches):
        found = random.sample([*gold, *(str(900_000 + n) for n in range(12))], 3)
        output = [{"docid": name, "score": 1.5, "snippet": "…"} for name in found]
        arguments = json.dumps({"query": "x"})
        call = {"type": "tool_call", "tool_name": "search", "arguments": arguments}
        result += [{"type": "reasoning", "output": ["…"]}, {**call, "output": json.dumps(output)}]
        seen += found
    counts = {"search": searches}
    if seen and random.random() < 0.5:
        opened = {"type": "tool_call", "tool_name": "get_document", "arguments": "{}"}
        result.append({**opened, "output": json.dumps({"docid": seen[0], "text": "…"})})
        counts["get_document"] = 1
    cited = random.choice(["", "[{0}]", "[{0}, 2015] and 【{1}】", "【{0}】 [{0}] [7, {1}]"])
    names = random.sample([*gold, "900001"], 2)
    stated = f"\nConfidence: {number / 4}%" if random.random() < 0.8 else ""
    text = f"It is {random.choice(['Sofia', 'Rila'])} {cited.format(*names)}{stated}"
    status = random.choice(["completed"] * 6 + ["incomplete", "max_output_tokens"])
    ends = random.random()
    if ends < 0.9:
        result.append({"type": "output_text", "tool_name": None, "output": text})
    elif ends < 0.95:
        result.append({"type": "output_text", "tool_name": None, "output": ""})
    return {
        "query_id": query,
        "tool_call_counts": counts,
        "status": status,
        "retrieved_docids": sorted(set(seen)),
        "result": result,
    }


def by_their_rules(runs: list[dict[str, Any]], gold: dict[str, list[str]]) -> dict[str, float]:
    """Compute what their program prints, with ``Sofia`` as the right answer to all."""
    recalls, precisions, cited_recalls, stated = [], [], [], []
    for run in runs:
        right = set(gold[run["query_id"]])
        recalls.append(len(right & set(run["retrieved_docids"])) / len(right))
        last = run["result"][-1] if run["result"] else {"type": ""}
        text = last["output"] if last["type"] == "output_text" else ""
        if run["status"] != "completed" or not text:
            continue
        marks = re.findall(r"\[[^][]*\]", text) + re.findall(r"【[^【】]*】", text)
        cited = {number for mark in marks for number in re.findall(r"\d+", mark)}
        if cited:
            precisions.append(len(cited & right) / len(cited))
            cited_recalls.append(len(cited & right) / len(right))
        says = re.search(r"Confidence: ([\d.]+)%", text)
        stated.append((float(says[1]) / 100 if says else 1.0, "Sofia" in text, bool(says)))
    bins = bins_of([(confidence, right) for confidence, right, _ in stated])
    ours = bins_of([(confidence, right) for confidence, right, says in stated if says])
    return {
        "browsecomp_recall": fmean(recalls),
        "cited_precision": fmean(precisions),
        "browsecomp_citation_recall": fmean(cited_recalls),
        "searches": fmean(run["tool_call_counts"]["search"] for run in runs),
        "tool_calls": fmean(sum(run["tool_call_counts"].values()) for run in runs),
        "browsecomp_calibration_error": math.sqrt(math.fsum(bins[:-1])),
        "calibration_error": math.sqrt(math.fsum(ours)),
    }


def bins_of(stated: list[tuple[float, bool]]) -> list[float]:
    ordered, bins = sorted(stated, key=lambda each: each[0]), []
    for start in range(0, len(ordered) - 99, 100):
        last = start + 200 > len(ordered)
        own = ordered[start:] if last else ordered[start : start + 100]
        gap = fmean(confidence for confidence, _ in own) - fmean(right for _, right in own)
        bins.append(gap**2 * len(own) / len(ordered))
    return bins


@pytest.mark.parametrize(
    ("stated", "right", "ours", "theirs"),
    [
        # By hand: one bin, of the two that state one; theirs has no bin before the last.
        ([0.9, None, 0.8], [1, 1, 0], 0.35, 0),
        ([0.5] * 150, [1] * 150, 0.5, 0),
        # A bin of 100 with a gap of 0.2, and one of 150 with a gap of 0.1.
        (
            [0.2] * 100 + [0.9] * 150,
            [0] * 100 + [1] * 150,
            math.sqrt((100 * 0.04 + 150 * 0.01) / 250),
            math.sqrt(100 * 0.04 / 250),
        ),
    ],
)
def test_calibration_counts_every_bin_and_theirs_leaves_the_last_one_out(
    stated: list[float | None], right: list[float], ours: float, theirs: float
) -> None:
    found = calibration_errors(stated, right)
    assert found["calibration_error"] == pytest.approx(ours)
    assert found["browsecomp_calibration_error"] == pytest.approx(theirs)
    assert calibration_errors([None] * 3, [1, 0, 1]) == {}


@pytest.fixture
def gold(shared_data: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for line in (shared_data / "browsecomp/qrel_evidence.txt").read_text().splitlines():
        query, _, name, _ = line.split()
        found[query].append(name)
    return {query: found[query] for query in sorted(found)[:N] if len(found[query]) > 1}


def test_their_run_files_give_the_numbers_of_their_program(
    gold: dict[str, list[str]], tmp_path: Path
) -> None:
    folder, runs = tmp_path / "browsecomp", tmp_path / "runs"
    folder.mkdir()
    runs.mkdir()
    asked = [
        Question(query, f"Question {query}?", "Sofia", tuple(ids), "b", "ad-hoc")
        for query, ids in gold.items()
    ]
    write_records(folder / "queries.json", asked)
    names = {*(name for ids in gold.values() for name in ids), *map(str, range(900_000, 900_012))}
    pool = [Document(name, f"Page {name}.", "b", name, True) for name in sorted(names)]
    write_records(folder / "corpus.json", pool)
    write_json(folder / "sidecar.json", {"language": "en"})
    random = Random(11)
    # Some questions have no run file.
    files = [
        run_file(random, query, ids, number)
        for number, (query, ids) in enumerate(gold.items())
        if number % 40
    ]
    for run in files:
        write_json(runs / f"run_{run['query_id']}.json", run)
    out, judged = tmp_path / "agent.traces.jsonl", tmp_path / "judged.json"
    about = ["--benchmark", "mini", "--folder", str(folder)]
    assert main(["traces", "import", str(runs), "--out", str(out), *about]) == 0
    command = ["answers", "judge", str(out), "--judge", "contains", "--out", str(judged)]
    assert main([*command, *about]) == 0
    (traces,) = repeats_of(read_traces(out))
    expected = by_their_rules(files, gold)
    values = trace_values(asked, traces)
    found = {
        name: fmean(value for value in column.tolist() if not math.isnan(value))
        for name, column in values.items()
    }
    # Its means are rounded.
    for name, mean in json.loads(judged.read_bytes())["all"].items():
        assert found.setdefault(name, mean) == pytest.approx(mean, abs=5.1e-6), name
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=5.1e-6 if "calib" in name else 1e-12), name
    # Ours counts what is not there.
    assert len(files) < len(asked)
    share = len(files) / len(asked)
    assert found["evidence_recall"] == pytest.approx(found["browsecomp_recall"] * share)
    assert found["cited_recall"] < found["browsecomp_citation_recall"]
    unfinished = [run["query_id"] for run in files if run["status"] != "completed"]
    stated = {each.question_id: each for each in read_traces(out)}
    assert unfinished
    assert {stated[query].answer for query in unfinished} == {None}
    assert {stated[query].confidence for query in unfinished} == {None}
