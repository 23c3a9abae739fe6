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
import time
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wordllama

from bears.answers.ragas.program import inputs
from bears.answers.ragas.rows import read_rows
from bears.answers.ragas.run import ENVIRONMENT, METRICS, PROGRAM, Score, summary
from bears.cli import main
from bears.config.typed import configured
from bears.errors import FormatError
from bears.files.journal import Journal
from bears.files.manifest import seal
from bears.files.spreadsheet import write_csv
from bears.layout import JOURNAL
from bears.llm.use import KeptReply, extend
from bears.selection.configuration import composed
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
        Score(3, "faithfulness", None, "no kept reply"),
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
asked, _ = json.loads(sys.stdin.readline()), sys.stdin.readline()
{body}
"""
SCORES = """
print(json.dumps({"ragas": "0.0.1"}))
for row in range(len(asked["rows"])):
    for place, metric in enumerate({metrics}):
        problem = "NaN" if (row, place) == (0, 1) else ""
        value = None if problem else place / 4
        print(json.dumps({"row": row, "metric": metric, "value": value, "problem": problem}))
print("null")
""".replace("{metrics}", repr(METRICS))

SEEN = 'open("seen.json", "w").write(json.dumps(asked["rows"]))'


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


@pytest.mark.slow
def test_scores_that_wait_for_a_reply_keep_the_means_off_the_leaderboard(
    workspace: Workspace,
) -> None:
    body = SCORES.replace("if (row, place) == (0, 1)", "if row < 3 and place == 1")
    played(workspace, body.replace('"NaN"', '"no kept reply"'))
    given(workspace, [[q["question"], q["gold_answer"], "x", "[]"] for q in questions(workspace)])
    told = ragas(workspace, "mine.csv", "--out", "scores.json", "--system", "mine", code=1)
    assert "replies for 3 of 72 scores are missing" in told
    assert '"n_scored": 15' in workspace.text("scores.json")
    assert not (workspace.root / "metrics" / "leaderboard.csv").exists()


@pytest.mark.slow
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


@pytest.mark.slow
def test_without_a_file_what_the_generator_answered_is_scored(workspace: Workspace) -> None:
    played(workspace, SEEN + SCORES)
    assert "generator is none; choose another one" in ragas(workspace, code=1)
    words = ["generator=sentence", "generator.documents=2"]
    stale = "data/mini/answers/bm25.sentence.jsonl does not exist; run `dvc repro generate`"
    assert stale in ragas(workspace, *words, code=1)
    names = ("queries", "corpus")
    paths = {name: Path(f"data/mini/translated/{name}.json") for name in names}
    paths |= {"chunks": Path("data/mini/runs/bm25.chunks.parquet"), "replies": Path("data/memory")}
    paths |= {"within": Path("data/mini/runs/bm25.within.trec")}
    answers = Path("data/mini/answers/bm25.sentence.jsonl")
    with chdir(workspace.root):
        configured(generate.main, composed("", words))({**paths, "out": answers})
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
        ("sys.exit('no module named ragas')", "after 0 scores: status 1, no module named ragas"),
        ("print('hello')", "not valid JSON"),
        ("print(json.dumps({'ragas': '1'})); print('[]')", "a line of ragas is"),
        (
            "print('{}'); import os; os.kill(os.getpid(), 9)",
            "ragas ended after 0 scores: status -9",
        ),
    ],
)
def test_a_ragas_that_fails_is_a_sentence(body: str, told: str, workspace: Workspace) -> None:
    played(workspace, body)
    given(workspace, [["Where?", "Oslo", "x", "[]"]])
    assert told in ragas(workspace, "mine.csv", code=1)
    assert not (workspace.root / "metrics" / "leaderboard.csv").exists()


FAKE = """#!{python}
import importlib.metadata, runpy, sys, types
from types import SimpleNamespace as Made

importlib.metadata.version = lambda name: "0.0.1"
names = ("embeddings", "llms", "metrics")
embeddings, llms, metrics = (types.ModuleType(f"ragas.{{name}}") for name in names)
llms.llm_factory = lambda model, **given: Made(model=model, **given)
embeddings.OpenAIEmbeddings = lambda client, model: Made(model=model, client=client)

def metric(name, samples):
    class Metric:
        def __init__(self, llm, vectors=None):
            self.llm, self.vectors = llm, vectors

        async def ascore(self, user_input, **others):
            messages, said = [{{"role": "user", "content": f"{{name}}: {{user_input}}"}}], ""
            for _ in range(samples):
                answer = await self.llm.client.chat.completions.create(
                    model=self.llm.model, max_tokens=self.llm.max_tokens, messages=messages
                )
                said += answer.choices[0].message.content
            if model := self.vectors:
                await model.client.embeddings.create(model=model.model, input=["a", said])
            return Made(value=sum(map(ord, said)) / 1e6)
    return Metric

metrics.collections = Made(
    Faithfulness=metric("f", 1), AnswerRelevancy=metric("a", 2),
    ContextPrecision=metric("p", 1), ContextRecall=metric("r", 1),
)
sys.modules |= {{"ragas": types.ModuleType("ragas"), "ragas.embeddings": embeddings}}
sys.modules |= {{"ragas.llms": llms, "ragas.metrics": metrics}}
runpy.run_path(sys.argv[2], run_name="__main__")
"""
"""In the place of the environment's Python: our program, with metrics that ask little. The first
row asks 5 chat requests and one for vectors."""


def counting(request: dict[str, Any]) -> str:
    """Never give the same answer twice."""
    counting.calls += 1  # type: ignore[attr-defined]
    return f"{counting.calls}: {request['messages'][-1]['content']}"  # type: ignore[attr-defined]


counting.calls = 0  # type: ignore[attr-defined]
THREE = [[question, "gold", "an answer", '["a text"]'] for question in ("One?", "Two?", "One?")]


@pytest.fixture
def server(workspace: Workspace) -> Iterator[ProviderServer]:
    """A provider, and a checkout with three rows to score, of which two are equal."""
    played(workspace, "")
    program = workspace.root / ENVIRONMENT / "bin" / "python"
    program.write_text(FAKE.format(python=sys.executable), encoding="utf-8")
    given(workspace, THREE)
    with ProviderServer(f"{__name__}:counting") as provider:
        yield provider


def at(server: ProviderServer, *more: str) -> list[str]:
    """Words that buy what is missing from a server."""
    return ["mine.csv", f"ragas.base_url={server.url}", "ragas.api_key_env=''", *more, *FILL]


FILL = ["--fill", "--yes", "--out", "out/scores.json"]


def asked(server: ProviderServer) -> int:
    return int(server.stats().get("requests", 0))


def journal(workspace: Workspace) -> list[dict[str, Any]]:
    return list(Journal(workspace.root / JOURNAL).rows())


@pytest.mark.slow
def test_each_request_is_bought_once_and_replayed_to_the_byte_without_a_model(
    server: ProviderServer, workspace: Workspace
) -> None:
    server.change(latency=0.1)
    ragas(workspace, *at(server))
    assert (asked(server), len(journal(workspace))) == (12, 12)
    first = workspace.bytes_below("out")
    assert all(
        metric["n_scored"] == 3 for metric in json.loads(first["scores.json"])["metrics"].values()
    )
    ragas(workspace, *at(server), "--publish")
    (workspace.root / JOURNAL).unlink()
    ragas(workspace, "mine.csv", "ragas.api_key_env=NO_SUCH", "--out", "out/scores.json")
    assert workspace.bytes_below("out") == first
    assert asked(server) == 12
    plan = ragas(workspace, "mine.csv", "--plan")
    assert re.search(r"kept already +12\ncalls +none|calls +none\nkept already +12", plan)


@pytest.mark.slow
def test_the_local_word_asks_one_model_and_makes_the_vectors_itself(
    server: ProviderServer, workspace: Workspace
) -> None:
    plan = ragas(workspace, "mine.csv", "ragas=local", "--plan")
    assert re.search(r"for +replies to ragas by qwen\S+\n", plan)
    assert re.search(r"calls +21 chat\n", plan)
    assert "US$ 0.0000 to 0.0000" in plan
    ragas(workspace, *at(server, "ragas=local"))
    # With vectors from the server there are two requests more.
    assert (asked(server), len(journal(workspace))) == (10, 10)
    assert {row["field"] for row in journal(workspace)} == {"chat"}
    first = workspace.bytes_below("out")
    result = json.loads(first["scores.json"])
    assert [metric["n_scored"] for metric in result["metrics"].values()] == [3, 3, 3, 3]
    assert result["models"]["encoder"] == {"wordllama": version("wordllama"), "dimensions": 256}
    ragas(workspace, "mine.csv", "ragas=local", "--out", "out/scores.json")
    assert workspace.bytes_below("out") == first


@pytest.mark.slow
@pytest.mark.usefixtures("environment")
def test_local_vectors_are_those_of_the_package(workspace: Workspace) -> None:
    given(workspace, ROWS[:1])
    with ProviderServer("tests.scripted_model:ragas") as provider:
        ragas(workspace, *at(provider, "ragas=local"))
    (row,) = csv.DictReader(workspace.text("out/scores.csv").splitlines())
    # The questions that the scripted model makes of the answer.
    words = ROWS[0][2].split()
    texts = [ROWS[0][0], *(" ".join(words[: len(words) // n + 1]) for n in (1, 2, 3))]
    package = Path(wordllama.__file__).parent
    embed = wordllama.WordLlama.load(cache_dir=package, dim=256, disable_download=True).embed
    asked, *made = embed(texts, norm=True)
    assert float(row["answer_relevancy"]) == pytest.approx(float(np.mean(made @ asked)), abs=2e-6)


@pytest.mark.slow
def test_a_longer_answer_or_another_model_is_another_request(
    server: ProviderServer, workspace: Workspace
) -> None:
    ragas(workspace, *at(server))
    for other in ("ragas.answer_tokens=2048", "ragas.model=gpt-4.1"):
        told = ragas(workspace, "mine.csv", other, code=1)
        assert "replies for 12 of 12 scores are missing; see what they cost with --plan" in told


@pytest.mark.slow
def test_missing_replies_are_counted_and_priced_and_nothing_is_asked(
    server: ProviderServer, workspace: Workspace
) -> None:
    words = ["mine.csv", f"ragas.base_url={server.url}", "ragas.price={input: 0, output: 1000}"]
    plan = ragas(workspace, *words, "--plan")
    # What ragas asks of three rows with one context, of 1024 tokens each at most.
    assert re.search(r"calls +21 chat, 6 embeddings", plan)
    assert f"US$ 0.0000 to {21 * 1024 / 1000:.4f}" in plan
    told = ragas(workspace, *words, "--out", "out/scores.json", code=1)
    assert told.count("0 of 3    3 no kept reply") == 4
    assert asked(server) == 0
    assert not (workspace.root / JOURNAL).exists()


@pytest.mark.slow
def test_the_budget_holds(server: ProviderServer, workspace: Workspace) -> None:
    given(workspace, [[f"Question {n}?", "gold", "an answer", "[]"] for n in range(20)])
    # An answer of 1024 tokens at most may cost 1.024 USD, and the provider answers 5 of them.
    price = ["ragas.price={input: 0, output: 1000}", "ragas.budget=1.3", "ragas.concurrency=4"]
    told = ragas(workspace, *at(server, *price), code=1)
    assert "the budget of 1.3 USD is used up" in told
    assert "raise ragas.budget to continue" in told
    spent = float(re.search(r"US\$ ([\d.]+) spent", told)[1])  # type: ignore[index]
    assert 1.3 - 1.024 - 0.01 <= spent <= 1.3 - 1.024 + 0.01
    before = asked(server)
    assert len(journal(workspace)) == before < 20 * 6
    ragas(workspace, *at(server))
    assert asked(server) == 20 * 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("truncated", "the answer is not complete (finish reason length)"),
        ("bad_request", "Invalid value"),
    ],
)
def test_a_fault_is_not_kept(
    fault: str, told: str, server: ProviderServer, workspace: Workspace
) -> None:
    server.change(chances={fault: 1.0})
    words = at(server, "ragas.attempts=1")
    assert told in ragas(workspace, *words, "--publish", code=1)
    assert "ragas" not in {row["kind"] for row in journal(workspace)}
    published = workspace.root / "data" / "memory" / "mini.ragas.jsonl"
    assert not published.read_bytes().strip()
    server.change(chances={})
    ragas(workspace, *words)


@pytest.mark.slow
def test_a_key_that_is_refused_is_tried_once_for_each_place_and_never_shown(
    server: ProviderServer, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-" + "9" * 20
    monkeypatch.setenv("MY_KEY", key)
    server.change(status=401)  # it echoes the key
    words = at(server, "ragas.api_key_env=MY_KEY", "ragas.concurrency=2")
    told = ragas(workspace, *words, "--publish", code=1)
    assert "[key]" in told
    assert "replies for 12 of 12 scores are missing" in told
    assert asked(server) <= 2
    files = [
        path for path in workspace.root.rglob("*") if path.is_file() and ".git" not in path.parts
    ]
    assert not [path for path in files if key.encode() in path.read_bytes()]
    assert key not in told


@pytest.mark.slow
def test_a_server_that_is_not_there_is_named(workspace: Workspace, server: ProviderServer) -> None:
    words = at(server, "ragas.base_url=http://127.0.0.1:9/v1", "ragas.attempts=1")
    assert "no connection to http://127.0.0.1:9/v1 " in ragas(workspace, *words, code=1)


@pytest.mark.parametrize("damaged", ["no JSON", "[" * 100_000])
def test_a_damaged_reply_is_refused(damaged: str, workspace: Workspace) -> None:
    played(workspace, "")
    given(workspace, THREE)
    entry = KeptReply("0" * 64, "", "chat", "text", damaged)
    extend(workspace.root / "data" / "memory" / "mini.ragas.jsonl", "ragas", [entry])
    assert f"the kept reply {entry.key}: not valid JSON" in ragas(workspace, "mine.csv", code=1)


def begun(workspace: Workspace, *words: str) -> subprocess.Popen[str]:
    """Start the command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "bears", "ragas", *words],
        cwd=workspace.root,
        env={name: value for name, value in os.environ.items() if name != "BEARS_RAGAS"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # Where the tests themselves run in the background, an interrupt would be ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_an_end_in_the_middle_loses_only_what_was_in_flight(
    end: signal.Signals, server: ProviderServer, workspace: Workspace
) -> None:
    given(workspace, [[f"Question {n}?", "gold", "an answer", "[]"] for n in range(20)])
    server.change(latency=0.2)
    process = begun(workspace, *at(server, "ragas.concurrency=4"))
    while len(journal(workspace)) < 20:
        time.sleep(0.02)
    process.send_signal(end)
    told, _ = process.communicate()
    kept = len(journal(workspace))
    # The program, which was not killed itself, has ended too.
    time.sleep(1)
    before = asked(server)
    assert kept <= before <= kept + 2 * 4
    if end == signal.SIGINT:
        assert process.returncode == 130
        said = re.search(r"^\d+ done; US\$ ([\d.]+) spent, .*in flight$", told, re.MULTILINE)
        assert said, told
        assert float(said[1]) > 0
    server.change(latency=0)
    ragas(workspace, *at(server))
    assert asked(server) - before == 20 * 6 - kept


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


DIRECT = """
import asyncio, json, math, os, runpy, sys
import openai

os.environ["RAGAS_DO_NOT_TRACK"] = "true"
ours, rows = runpy.run_path(sys.argv[1]), json.loads(sys.argv[3])
client = openai.AsyncOpenAI(base_url=sys.argv[2], api_key="none", max_retries=0)
models = {"model": "gpt-4.1-mini", "embeddings": "text-embedding-3-small", "answer_tokens": 1024}

async def main():
    for name, metric in ours["metrics"](client, models).items():
        for place, row in enumerate(rows):
            try:
                value = float((await metric.ascore(**ours["inputs"](name, row))).value)
            except Exception:
                value = math.nan
            print(json.dumps([place, name, value if math.isfinite(value) else None]))

asyncio.run(main())
"""


def direct(workspace: Workspace, url: str) -> dict[tuple[int, str], Any]:
    """What ragas says with nothing of ours between it and the provider."""
    rows = [
        {"question": q, "ground_truth": gold, "answer": answer, "contexts": json.loads(contexts)}
        for q, gold, answer, contexts in ROWS
    ]
    python = workspace.root / ENVIRONMENT / "bin" / "python"
    words = [str(python), "-I", "-c", DIRECT, str(PROGRAM), url, json.dumps(rows)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    told = (json.loads(line) for line in done.stdout.splitlines())
    return {(place, metric): value for place, metric, value in told}


@pytest.mark.slow
@pytest.mark.usefixtures("environment")
def test_the_replayed_numbers_are_those_of_a_direct_run(workspace: Workspace) -> None:
    with ProviderServer("tests.scripted_model:ragas") as server:
        wanted = direct(workspace, server.url)
    given(workspace, ROWS)
    with ProviderServer("tests.scripted_model:ragas") as server:
        words = [f"ragas.base_url={server.url}", "ragas.api_key_env=''"]
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
    assert json.loads(out["scores.json"])["versions"]["ragas"] == "0.4.3"
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
