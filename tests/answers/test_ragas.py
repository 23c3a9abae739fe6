"""``bears ragas``: what it reads and counts, and (slow) that its numbers are those of ragas."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from bears.answers.ragas.program import inputs
from bears.answers.ragas.rows import read_rows
from bears.answers.ragas.run import ENVIRONMENT, PROGRAM
from bears.answers.ragas.scores import METRICS, Score, summary
from bears.cli import main
from bears.cli.selection import composed
from bears.config.typed import select
from bears.errors import FormatError
from bears.files.manifest import seal
from bears.files.spreadsheet import write_csv
from stages import generate
from tests.provider_server import ROOT, ProviderServer
from tests.workspace import Workspace

HEADER = "question,ground_truth,answer,contexts\n"
WHOLE = 'Where?,Oslo,In Oslo.,"[""It is in Oslo.""]"\n'


def read(folder: Path, text: str) -> Any:
    file = folder / "in.csv"
    file.write_text(text, encoding="utf-8")
    return read_rows(file)


def test_rows_are_scored_as_they_are(tmp_path: Path) -> None:
    rows = read(tmp_path, f"id,{HEADER}1,{WHOLE}2,誰？,安,,\n3,Who?,Ann,Ann,[]\n")
    assert [row.contexts for row in rows] == [("It is in Oslo.",), (), ()]
    assert [row.answer for row in rows] == ["In Oslo.", "", "Ann"]
    assert (rows[1].question, rows[1].ground_truth) == ("誰？", "安")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("question,answer\na,b\n", "lacks the column ground_truth, contexts"),
        (HEADER, "no rows"),
        ("", "lacks the column question, ground_truth, answer, contexts"),
        (f"{HEADER}  ,x,y,[]\n", "line 2: the question is empty"),
        (f"{HEADER}q,x,y,\"['one', 'two']\"\n", "json.dumps"),
        (f'{HEADER}q,x,y,"[1, 2]"\n', "expected a JSON list of texts"),
    ],
)
def test_a_file_that_cannot_be_scored_is_refused_naming_the_place(
    text: str, told: str, tmp_path: Path
) -> None:
    with pytest.raises(FormatError, match=told):
        read(tmp_path, text)


def test_a_mean_is_of_what_was_scored_and_the_rest_is_counted_by_its_reason() -> None:
    scores = [
        Score(0, "faithfulness", 0.5),
        Score(1, "faithfulness", None, "NaN"),
        Score(2, "faithfulness", 1.0),
        Score(3, "faithfulness", None, "InstructorRetryException: … 'code': 'reply_missing' …"),
    ]
    found = summary(scores, 5)
    assert found["faithfulness"] == {
        "mean": 0.75,
        "n_scored": 2,
        "n_total": 5,
        "unscored": {"NaN": 1, "never came": 1, "no kept reply": 1},
    }
    assert found["context_recall"]["mean"] is None
    assert found["context_recall"]["unscored"] == {"never came": 5}


PLAYED = """#!{python}
import json, sys
asked = json.load(sys.stdin)
{body}
"""
SCORES = """
print(json.dumps({"ragas": "0.0.1"}))
for row in range(len(asked["rows"])):
    for place, metric in enumerate({metrics}):
        problem = "NaN" if (row, place) == (0, 1) else ""
        value = None if problem else place / 4
        print(json.dumps({"row": row, "metric": metric, "value": value, "problem": problem}))
""".replace("{metrics}", repr(METRICS))

SEEN = 'print(json.dumps(asked["rows"]), file=open("seen.json", "w"))'


def played(workspace: Workspace, body: str) -> None:
    """Put a program in the place of the environment's Python."""
    program = workspace.root / ENVIRONMENT / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text(PLAYED.format(python=sys.executable, body=body), encoding="utf-8")
    program.chmod(0o755)


def ragas(workspace: Workspace, *words: str, code: int = 0) -> str:
    out, errors = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(out),
        redirect_stderr(errors),
    ):
        patch.chdir(workspace.root)
        patch.delenv("BEARS_RAGAS", raising=False)
        status = main(["ragas", *words])
    told = out.getvalue() + errors.getvalue()
    assert status == code, told
    return told


def given(workspace: Workspace, rows: list[list[str]]) -> None:
    write_csv(workspace.root / "mine.csv", HEADER.strip().split(","), rows)


def questions(workspace: Workspace) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(workspace.text("data/mini/translated/queries.json"))
    return found


def test_without_its_environment_it_says_how_to_make_one(workspace: Workspace) -> None:
    given(workspace, [["Where?", "Oslo", "In Oslo.", "[]"]])
    told = ragas(workspace, "mine.csv", code=1)
    assert "make ragas" in told
    assert len(told.splitlines()) == 1


def test_what_is_not_scored_stands_beside_the_mean_and_on_the_leaderboard(
    workspace: Workspace,
) -> None:
    played(workspace, SCORES)
    rows = [[q["question"], q["gold_answer"], "an answer", "[]"] for q in questions(workspace)]
    given(workspace, rows)
    told = ragas(workspace, "mine.csv", "--out", "out/scores.json", "--system", "mine")
    assert "17 of 18  1 NaN" in told
    assert re.match(r"mine\.csv on mini, state \w+, 18 questions\n\n", told)
    result = json.loads(workspace.text("out/scores.json"))
    metric = result["metrics"]["answer_relevancy"]
    assert (metric["mean"], metric["n_scored"], metric["n_total"]) == (0.25, 17, 18)
    assert result["versions"] == {"ragas": "0.0.1"}
    by_row = list(csv.DictReader(workspace.text("out/scores.csv").splitlines()))
    assert [row["context_recall"] for row in by_row] == ["0.750000"] * 18
    assert by_row[0]["answer_relevancy"] == ""
    board = list(csv.DictReader(workspace.text("metrics/leaderboard.csv").splitlines()))
    assert [row["system"] for row in board] == ["mine"]
    assert (board[0]["context_precision"], board[0]["questions"]) == ("0.5", "18")
    assert "answer_relevancy of 17 of 18 questions" in board[0]["warnings"]


def test_scores_that_another_run_may_give_keep_the_means_off_the_leaderboard(
    workspace: Workspace,
) -> None:
    codes = ["reply_missing", "budget_exhausted", "no_answer", "not_kept"]
    told = "InstructorRetryException: Error code: 402 - {'error': {'code': 'CODE'}}"
    body = SCORES.replace("if (row, place) == (0, 1)", f"if row < {len(codes)} and place == 1")
    body = body.replace('"NaN"', f"{told!r}.replace('CODE', {codes!r}[row])")
    played(workspace, body)
    given(workspace, [[q["question"], q["gold_answer"], "x", "[]"] for q in questions(workspace)])
    told = ragas(workspace, "mine.csv", "--out", "scores.json", "--system", "mine", code=1)
    assert "replies for 4 of 72 scores are missing" in told
    assert '"n_scored": 14' in workspace.text("scores.json")
    assert not (workspace.root / "metrics" / "leaderboard.csv").exists()


@pytest.mark.parametrize("repeated", [False, True])
def test_other_questions_than_the_benchmark_s_come_on_no_leaderboard(
    repeated: bool, workspace: Workspace
) -> None:
    played(workspace, SCORES)
    first = questions(workspace)[0]
    moon = [["Where on the moon?", "Mare", "Here.", "[]"]]
    given(
        workspace, [[first["question"], first["gold_answer"], "x", "[]"]] * 18 if repeated else moon
    )
    assert "mine.csv on mini, " in ragas(workspace, "mine.csv")
    told = ragas(workspace, "mine.csv", "--system", "mine", code=1)
    assert "the questions of mine.csv are not all those of mini, each once" in told
    assert not (workspace.root / "metrics" / "leaderboard.csv").exists()


def test_without_a_file_what_the_generator_answered_is_scored(workspace: Workspace) -> None:
    played(workspace, SCORES + SEEN)
    assert "generator is none; choose another one" in ragas(workspace, code=1)
    words = ["generator=sentence", "generator.documents=2"]
    stale = "data/mini/answers/bm25.sentence.jsonl does not exist; run `dvc repro generate`"
    assert stale in ragas(workspace, *words, code=1)
    names = ("queries", "corpus")
    paths = {name: Path(f"data/mini/translated/{name}.json") for name in names}
    paths |= {"chunks": Path("data/mini/runs/bm25.chunks.trec"), "replies": Path("data/memory")}
    paths |= {"within": Path("data/mini/runs/bm25.within.trec")}
    answers = Path("data/mini/answers/bm25.sentence.jsonl")
    with chdir(workspace.root):
        generate.main(select(generate.GenerateKeys, composed("", words)), {**paths, "out": answers})
        seal([answers], {})
    ragas(workspace, *words, "--system", "ours")
    seen = json.loads(workspace.text("seen.json"))
    documents = json.loads(workspace.text("data/mini/translated/corpus.json"))
    texts = {document["doc_id"]: document["content"] for document in documents}
    lines = [json.loads(line) for line in workspace.text(str(answers)).splitlines()]
    for asked, row, line in zip(questions(workspace), seen, lines, strict=True):
        assert (row["question"], row["ground_truth"]) == (asked["question"], asked["gold_answer"])
        assert row["answer"] == line["answer"]
        assert row["contexts"] == [texts[doc_id] for doc_id in line["shown"]]
        assert len(row["contexts"]) == 2
    assert "ours" in workspace.text("metrics/leaderboard.csv")
    told = ragas(workspace, "generator=sentence", code=1)
    assert "bm25.sentence.jsonl is not what the generator answers now" in told


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("sys.exit('no module named ragas')", "status 1 after 0 scores: no module named ragas"),
        ("print('hello')", "not valid JSON"),
        ("print(json.dumps({'ragas': '1'})); print('[]')", "a score of ragas is"),
        ("print('{}'); import os; os.kill(os.getpid(), 9)", "ragas ended with status -9"),
    ],
)
def test_a_ragas_that_fails_is_a_sentence(body: str, told: str, workspace: Workspace) -> None:
    played(workspace, body)
    given(workspace, [["Where?", "Oslo", "x", "[]"]])
    assert told in ragas(workspace, "mine.csv", code=1)
    assert not (workspace.root / "metrics" / "leaderboard.csv").exists()


PAYING = """
import os, signal, time, urllib.error, urllib.request
print(json.dumps({"ragas": "0.0.1"}), flush=True)
chat = {"model": asked["model"], "messages": [{"role": "user", "content": "Hello?"}]}
try:
    urllib.request.urlopen(urllib.request.Request(
        asked["base_url"] + "/chat/completions", json.dumps(chat).encode(),
        {"Authorization": "Bearer " + asked["key"]},
    ))
except urllib.error.HTTPError:
    sys.exit()
os.kill(os.getppid(), signal.SIGINT)
time.sleep(60)
"""


@pytest.mark.slow
def test_an_interrupt_says_what_was_spent_though_nothing_is_scored_yet(
    workspace: Workspace,
) -> None:
    played(workspace, PAYING)
    given(workspace, [["Where?", "Oslo", "x", "[]"]])
    with ProviderServer("tests.scripted_model:ragas") as server:
        words = [f"proxy.chat.base_url={server.url}", "proxy.chat.api_key_env=''"]
        words += ["proxy.chat.price={input: 1000, output: 1000}", "--fill", "--yes"]
        done = subprocess.run(
            [sys.executable, "-m", "bears", "ragas", "mine.csv", *words],
            cwd=workspace.root,
            env={name: value for name, value in os.environ.items() if name != "BEARS_RAGAS"},
            capture_output=True,
            text=True,
            # Where the tests themselves run in the background, an interrupt would be ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
    told = done.stdout + done.stderr
    assert done.returncode == 130, told
    said = re.search(r"^0 done; US\$ ([\d.]+) spent, .*in flight$", told, re.MULTILINE)
    assert said, told
    assert float(said[1]) > 0


ROWS = [
    ["Where was Ada born?", "Ada was born in London.", "Ada was born in London. She liked cats.",
     '["Ada Lovelace was born in London.", "Berlin is big.", "Ada had a cat in London."]'],
    ["Who wrote it?", "Ann wrote it. It was in May.", "I don't know, said Ann in May.",
     '["Ann wrote a book."]'],
    ["A gibberish one?", "It is gibberish.", "Some gibberish, then more of it.", '["gibberish"]'],
    ["誰寫的？", "安寫的。", "...", '["安寫的書。"]'],
    ["Nothing shown?", "No.", "No, nothing.", "[]"],
    ["No answer?", "No.", "", '["No."]'],
]  # fmt: skip


@pytest.fixture
def environment(workspace: Workspace) -> None:
    here = Path(os.environ.get("BEARS_RAGAS", ROOT / ENVIRONMENT))
    if not (here / "bin" / "python").exists():
        pytest.skip(f"ragas is not in {here}; `make ragas` puts it there")
    (workspace.root / ENVIRONMENT).symlink_to(here)


def direct(workspace: Workspace, url: str) -> dict[tuple[int, str], Any]:
    """What ragas says with nothing of ours between it and the provider."""
    rows = [
        {"question": q, "ground_truth": gold, "answer": answer, "contexts": json.loads(contexts)}
        for q, gold, answer, contexts in ROWS
    ]
    asked = {"base_url": url, "key": "none", "concurrency": 4, "rows": rows}
    asked |= {"model": "gpt-4.1-mini", "embedding_model": "text-embedding-3-small"}
    done = subprocess.run(
        [workspace.root / ENVIRONMENT / "bin" / "python", "-I", PROGRAM],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert told[0]["ragas"] == "0.4.3"
    return {(each["row"], each["metric"]): each["value"] for each in told[1:]}


@pytest.mark.slow
@pytest.mark.usefixtures("environment")
def test_the_replayed_numbers_are_those_of_a_direct_run(workspace: Workspace) -> None:
    with ProviderServer("tests.scripted_model:ragas") as server:
        wanted = direct(workspace, server.url)
    given(workspace, ROWS)
    with ProviderServer("tests.scripted_model:ragas") as server:
        words = [f"proxy.chat.base_url={server.url}", "proxy.chat.api_key_env=''"]
        more = ["--publish", "--out", "out/scores.json"]
        filled = ragas(workspace, "mine.csv", *words, "--fill", "--yes", *more)
        asked = server.stats()["requests"]
    out = workspace.bytes_below("out")
    (workspace.root / ".bears" / "journal.jsonl").unlink()
    replayed = ragas(workspace, "mine.csv", "--out", "out/scores.json")
    assert workspace.bytes_below("out") == out
    assert "\n".join(replayed.splitlines()[:6]) in filled
    found = {
        (place, metric): float(row[metric]) if row[metric] else None
        for place, row in enumerate(csv.DictReader(out["scores.csv"].decode().splitlines()))
        for metric in METRICS
    }
    assert found.keys() == wanted.keys()
    assert {key for key, value in found.items() if value is None} == {
        *((3, m) for m in ["faithfulness"]),
        *((4, m) for m in METRICS if m != "answer_relevancy"),
        *((5, m) for m in METRICS if m in ("faithfulness", "answer_relevancy")),
    }
    assert all(
        value is None or math.isclose(value, wanted[key], abs_tol=5e-7)
        for key, value in found.items()
    )
    assert asked > 30
    for metric, told in json.loads(out["scores.json"])["metrics"].items():
        values = [wanted[row, metric] for row in range(len(ROWS))]
        scored = [value for value in values if value is not None]
        assert told["mean"] == math.fsum(scored) / len(scored)


def test_a_metric_is_given_what_it_looks_at_and_nothing_more() -> None:
    row = {"question": "q", "answer": "a", "ground_truth": "g", "contexts": ["c"]}
    given = {metric: set(inputs(metric, row)) for metric in METRICS}
    assert given == {
        "faithfulness": {"user_input", "response", "retrieved_contexts"},
        "answer_relevancy": {"user_input", "response"},
        "context_precision": {"user_input", "reference", "retrieved_contexts"},
        "context_recall": {"user_input", "reference", "retrieved_contexts"},
    }
