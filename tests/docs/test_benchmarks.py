"""Run the benchmarks of other systems with the real commands, on their real data.

Each needs a run of the pipeline, so all of these are slow.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from bears.cli import main
from tests.workspace import Workspace, finished

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    base = tmp_path_factory.getbasetemp()
    copy = finished(base)[0].copied(tmp_path_factory.mktemp("benchmarks") / "project")
    return copy.sharing(base)


def experiment(workspace: Workspace, shared: Path, benchmark: str, *words: str) -> dict[str, Any]:
    """Return the metrics of one `dvc exp run`, with bm25 unless ``words`` select another."""
    workspace.git("checkout", "--quiet", "--force", "HEAD")
    choices = [f"benchmark={benchmark}", f"mirror={shared}", *words]
    workspace.dvc("exp", "run", *[part for word in choices for part in ("-S", word)])
    metrics: dict[str, Any] = json.loads(workspace.text("metrics/retrieval.json"))
    return metrics


def test_scifact_has_anserinis_numbers(workspace: Workspace, shared_data: Path) -> None:
    depth = 'overrides=["retrieve.depth=1000"]'
    means = experiment(workspace, shared_data, "scifact", depth)["all"]
    assert means["n"] == 300
    # Anserini's regression for BEIR SciFact, BM25 flat: METRICS.md §5.
    assert round(means["ndcg@10"], 4) == 0.6789
    assert round(means["recall@100"], 4) == 0.9253


def test_an_exported_scifact_is_a_benchmark_with_the_same_numbers(
    workspace: Workspace, shared_data: Path, tmp_path: Path
) -> None:
    before = experiment(workspace, shared_data, "scifact")["all"]
    out = tmp_path / "scifact"
    workspace.python("bears", "export", str(out))
    assert "is what this project makes" in workspace.python("bears", "attest", str(out))
    paths = f'overrides=["sources.beir.path={out}"]'
    after = experiment(workspace, shared_data, "beir", paths)["all"]
    assert {k: after[k] for k in ("n", "ndcg@10", "map")} == {
        k: before[k] for k in ("n", "ndcg@10", "map")
    }


def test_a_question_of_beir_that_is_a_document_does_not_find_itself(
    workspace: Workspace, shared_data: Path, tmp_path: Path
) -> None:
    """Ask with a document under its own id, as ArguAna does."""
    (tmp_path / "qrels").mkdir()
    texts = {"a": "one two three four", "a-answer": "one two other words", "b": "nothing in common"}
    rows = {"corpus": texts, "queries": {"a": texts["a"]}}
    for name, ids in rows.items():
        lines = [json.dumps({"_id": i, "text": text}) + "\n" for i, text in ids.items()]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "qrels" / "test.tsv").write_text("a\ta-answer\t1\n", encoding="utf-8")
    paths = f'overrides=["sources.beir.path={tmp_path}","retrieve.depth=1"]'
    assert experiment(workspace, shared_data, "beir", paths)["all"]["success@1"] == 1
    (line,) = workspace.text("data/beir/runs/bm25.trec").splitlines()
    assert line.split()[:4] == ["a", "Q0", "a-answer", "1"]
    (tmp_path / "theirs.trec").write_text("a Q0 a 1 2 x\na Q0 a-answer 2 1 x\n")
    words = ["submit", "score", str(tmp_path / "theirs.trec"), "--benchmark", "beir", "--json"]
    report = json.loads(workspace.python("bears", *words))
    assert report["measures"]["success@1"] == 1
    assert any("identical_id" in warning for warning in report["warnings"])


def test_the_answers_to_qasper_in_the_docs_are_measured(
    workspace: Workspace, shared_data: Path
) -> None:
    text = workspace.text("docs/answers.md").partition("## QASPER")[2]
    rows = re.findall(r"^\| `([^`]*)` \|((?: [-.\d]+ \|){7})$", text, re.MULTILINE)
    assert len(rows) == 3
    for override, cells in rows:
        words = ("generator=sentence", "judge=contains", f'overrides=["{override}"]')
        experiment(workspace, shared_data, "qasper", *words)
        judged = json.loads(workspace.text("metrics/answers.json"))
        found = [judged["all"][name] for name in ("answer_f1", "exact_match", "evidence_f1")]
        kinds = ("extractive", "free-form", "yes-no", "unanswerable")
        found += [judged["by_answer_type"][kind]["answer_f1"] for kind in kinds]
        assert [round(value, 3) for value in found] == [float(c) for c in cells.split("|")[:-1]]
        file = "data/qasper/answers/bm25.sentence.jsonl"
        scoring = ("answers", "score", file, "--benchmark", "qasper", "--out", "scores.json")
        workspace.python("bears", *scoring)
        scores = json.loads(workspace.text("scores.json"))
        names = ("answer_f1", "exact_match", "evidence_f1")
        assert [scores["all"][name] for name in names] == [judged["all"][name] for name in names]
        assert scores["by_answer_type"] == judged["by_answer_type"]


def test_pandachats_submissions_are_on_the_board_beside_our_retriever(
    workspace: Workspace, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = experiment(workspace, shared_data, "pandachat-sl")
    ours = round(metrics["all"]["retrieval_accuracy@2"] * 206 / 100)
    assert metrics["all"]["n"] == 206
    folder = shared_data / "pandachat" / "submissions"
    score = ["submit", "score", "--benchmark", "pandachat-sl"]
    commands = [[*score, str(path)] for path in folder.iterdir()] + [["leaderboard"]]
    for words in commands:
        workspace.python("bears", *words)
    # What is scored again, here in this process, has the same place.
    monkeypatch.chdir(workspace.root)
    assert [main(words) for words in commands] == [0] * len(commands)
    table = json.loads(workspace.text("metrics/pandachat-sl.json"))
    counts = {row["system"]: row["correct_retrieval_count"] for row in table}
    assert counts == {
        "bge-m3": 206,
        "multilingual-e5-base": 205,
        "text-embedding-3-small": 205,
        "qdrant-openai-embedding-3-small": 199,
        "bm25": ours,
    }
    with (workspace.root / "metrics" / "leaderboard.csv").open(encoding="utf-8") as stream:
        board = [row for row in csv.DictReader(stream) if row["benchmark"] == "pandachat-sl"]
    assert len(board) == 5
    (qdrant,) = [row for row in board if row["system"].startswith("qdrant")]
    assert "short_list" in qdrant["warnings"]


def test_a_run_over_chunks_is_written_as_pandachat_has_it(
    workspace: Workspace, shared_data: Path, tmp_path: Path
) -> None:
    """An independent count of bm25 over PandaChat's chunks is 202 of 206."""
    metrics = experiment(workspace, shared_data, "pandachat-sl", "chunking=tokens")
    assert metrics["all"]["retrieval_accuracy@2"] == pytest.approx(100 * 202 / 206)
    out = tmp_path / "submission.json"
    run = "data/pandachat-sl/runs/bm25.trec"
    workspace.python("bears", "submit", "write", run, str(out), "--benchmark", "pandachat-sl")
    ours = json.loads(out.read_bytes())
    folder = shared_data / "pandachat"
    theirs = json.loads(next((folder / "submissions").iterdir()).read_bytes())
    assert theirs.keys() == ours.keys()
    known = {row["query"]: row for row in theirs["df"]}
    assert len(ours["df"]) == len(known) == 206
    for row in ours["df"]:
        assert row.keys() <= theirs["df"][0].keys()
        same = ("query", "answer", "document", "text_without_Q")
        assert [row[key] for key in same] == [known[row["query"]][key] for key in same]
    # PandaChat's own count, from the file alone.
    assert sum(row["document"] in row["sources"][:2] for row in ours["df"]) == 202
    words = ["submit", "score", str(out), "--benchmark", "pandachat-sl", "--json", "--no-board"]
    report = json.loads(workspace.python("bears", *words))
    assert report["correct_retrieval"]["top 2"]["count"] == 202
    assert report["seconds_per_question"] == ours["time_per_question"] > 0
    workspace.python("bears", "leaderboard")
    table = json.loads(workspace.text("metrics/pandachat-sl.json"))
    counts = {row["system"]: row["correct_retrieval_count"] for row in table}
    assert counts["bm25 / tokens"] == 202


def test_the_korean_task_is_scored_and_its_file_written(
    workspace: Workspace, shared_data: Path, tmp_path: Path
) -> None:
    means = experiment(workspace, shared_data, "science-ko")["all"]
    assert means["n"] == 199
    # One gold document each: the official score, without its holes, is the strict one.
    assert means["kor_map_official"] == means["kor_map_strict"] == pytest.approx(0.936, abs=5e-4)

    experiment(workspace, shared_data, "science-ko-eval", "generator=sentence")
    out = tmp_path / "submission.csv"
    run = "data/science-ko-eval/runs/bm25.trec"
    workspace.python("bears", "submit", "write", run, str(out), "--benchmark", "science-ko-eval")
    rows = [json.loads(line) for line in out.read_bytes().split(b"\n") if line]
    sample = (shared_data / "science_ko" / "sample_submission.csv").read_bytes()
    theirs = [json.loads(line) for line in sample.split(b"\n") if line.strip()]
    assert {row["eval_id"] for row in rows} == {row["eval_id"] for row in theirs}
    assert list(rows[0]) == list(theirs[0])
    answers = workspace.text("data/science-ko-eval/answers/bm25.sentence.jsonl")
    said = {row["question_id"]: row["answer"] for row in map(json.loads, answers.splitlines())}
    # Ours is one word in every language; the task's users read Korean.
    korean = {key: "답할 수 없음" if text == "Unanswerable" else text for key, text in said.items()}
    assert {str(row["eval_id"]): row["answer"] for row in rows} == korean

    # The gold of the 220 is not public, so an empty list does not count as right.
    words = ["submit", "score", str(out), "--benchmark", "science-ko-eval", "--no-board"]
    report = json.loads(workspace.python("bears", *words, "--json"))
    assert report["correct_retrieval"] == {}
    assert set(report["measures"].values()) == {None}


def test_qasper_is_asked_of_the_pool_and_of_each_paper(
    workspace: Workspace, shared_data: Path
) -> None:
    metrics = experiment(workspace, shared_data, "qasper")
    pool, paper = metrics["all"], metrics["within"]["all"]
    assert pool["n"] == paper["n"] == 39
    # The paper's own paragraphs are a part of the pool, so that nothing can be found later.
    assert paper["ndcg@10"] > pool["ndcg@10"]
    assert paper["recall@100"] >= pool["recall@100"]


def test_the_pipelines_own_run_scores_as_a_submission_what_it_scored(
    workspace: Workspace, shared_data: Path, tmp_path: Path
) -> None:
    means = experiment(workspace, shared_data, "scifact")["all"]
    run = tmp_path / "run.trec"
    run.write_bytes((workspace.root / "data/scifact/runs/bm25.trec").read_bytes())
    words = ["submit", "score", str(run), "--benchmark", "scifact", "--json", "--no-board"]
    report = json.loads(workspace.python("bears", *words))
    assert report["measures"] == {name: means[name] for name in report["measures"]}
