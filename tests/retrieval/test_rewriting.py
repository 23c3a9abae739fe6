"""What is searched for a question: turns unchanged, or nothing at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bears.errors import FormatError
from bears.files.records import read_lines, write_lines
from bears.files.rewritten import read_rewritten
from bears.retrieval.rewriting.turns import Turns
from bears.types import Question, RewrittenQuestion, Turn
from stages import evaluate, retrieve
from tests.desk import Desk
from tests.workspace import Workspace, ran

TURNS = (Turn("user", "I forgot it all."), Turn("assistant", "That happens."))
ASKED = Question("q", "Why?", "", (), "s", "ad-hoc", turns=TURNS)


@pytest.mark.parametrize(
    ("method", "text"),
    [
        ("last", "Why?"),
        ("user", "I forgot it all.\nWhy?"),
        ("all", "I forgot it all.\nThat happens.\nWhy?"),
    ],
)
def test_turns_are_asked_as_they_stand(method: Any, text: str) -> None:
    assert Turns("x", method).asked(ASKED) == RewrittenQuestion("q", text, search=True)


LINE = {"question_id": "q", "standalone_query": "Why?", "search": True}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "lacks 1 of 1 questions, such as 'q'"),
        ([LINE, LINE], "line 2: question 'q' already has a line"),
        ([LINE | {"question_id": "p"}], "line 1: question 'p' is not a question of this"),
        ([LINE | {"standalone_query": " \u200b"}], "'q' is searched, but its standalone_query is"),
        ([LINE | {"search": "no"}], "search: Input should be a valid boolean"),
        ([LINE | {"standalone_query": None}], "standalone_query: Input should be a valid string"),
        ([LINE | {"why": "so"}], "why: Unexpected keyword argument"),
        ([[LINE]], "line 1"),
    ],
)
def test_a_file_that_would_search_for_something_else_is_refused(
    tmp_path: Path, rows: list[Any], message: str
) -> None:
    path = tmp_path / "mine.jsonl"
    write_lines(path, rows)
    with pytest.raises(FormatError, match=message):
        read_rewritten(path, [ASKED])


OUTPUTS = [f"--{name}=mine/{name}" for name in ("questions", "metrics", "curve", "bars")]
RUNS = [f"--{name}=mine/{name}.trec" for name in ("run", "within")]
RUNS += ["--timing=mine/t.json"]


@pytest.mark.parametrize("searched", [0, 2])
def test_what_is_not_searched_has_no_document_and_is_counted(
    workspace: Workspace, searched: int
) -> None:
    """With two of 18 left over, the run would else be refused as another benchmark's."""
    rows = [row for _, row in read_lines(workspace.root / "data/mini/rewritten/none.jsonl")]
    for row in rows[searched:]:
        row |= {"search": False, "standalone_query": ""}
    rewritten = ["--rewritten", "mine/asked.jsonl"]
    write_lines(workspace.root / "mine/asked.jsonl", rows)
    desk = Desk(workspace.root, ())
    desk.stage("retrieve", retrieve.main, *rewritten, *RUNS, "--chunks=mine/run.chunks.parquet")
    found = {line.split()[0] for line in workspace.text("mine/run.trec").split("\n")[:-1]}
    assert found == {row["question_id"] for row in rows[:searched]}
    desk.stage("evaluate", evaluate.main, *rewritten, *RUNS, *OUTPUTS)
    results = json.loads(workspace.text("mine/metrics"))
    assert results["all"]["answered"] == searched
    assert results.get("not_searched", 0) == 18 - searched


@pytest.mark.slow
def test_a_submission_file_says_what_was_searched_and_is_of_no_other_run(
    workspace: Workspace,
) -> None:
    # The form has the texts that were searched.
    form = "benchmark:\n  form: science-ko\n"
    workspace.edit("conf/benchmark/mini.yaml", "benchmark:\n", form)
    asked = workspace.root / "mine.jsonl"
    text = workspace.text("data/mini/rewritten/none.jsonl")
    first = json.loads(text.split("\n")[0])
    asked.write_text(text.replace(first["standalone_query"], "something else"), encoding="utf-8")
    run, words = "data/mini/runs/bm25.trec", ["bears", "submit", "write"]
    by_hand = ["--benchmark", "mini", "--rewritten", "mine.jsonl"]
    refused = workspace.python(*words, run, "out.csv", *by_hand, code=1)
    assert f"{run} was not made from mine.jsonl" in refused
    # A run from elsewhere has no manifest that could say what it was made of.
    (workspace.root / "run.trec").write_bytes((workspace.root / run).read_bytes())
    workspace.python(*words, "run.trec", "out.csv", *by_hand)
    rows = read_lines(workspace.root / "out.csv")
    assert "something else" in [row["standalone_query"] for _, row in rows]
    row = json.dumps(first | {"search": False, "standalone_query": ""})
    asked.write_text(f"{row}\n" + text.split("\n", 1)[1], encoding="utf-8")
    refused = workspace.python(*words, "run.trec", "out.csv", *by_hand, code=1)
    assert f"{first['question_id']!r}, for which nothing is searched" in refused


@pytest.mark.slow
def test_another_way_to_ask_runs_nothing_before_it(
    workspace: Workspace,
) -> None:
    """No question of mini has earlier turns, so all of them are asked as before."""
    before = workspace.text("metrics/retrieval.json")
    user = ran(workspace.dvc("exp", "run", "-S", "rewriter=user"))
    assert user == ["config", "rewrite", "retrieve", "evaluate"]
    assert workspace.text("metrics/retrieval.json") == before
