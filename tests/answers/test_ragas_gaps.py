"""``bears ragas`` on a CSV that lacks contexts or answers: what fills it, and what that costs."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from bears.answers.ragas.rows import COLUMNS
from bears.answers.ragas.run import ENVIRONMENT
from bears.config.typed import configured
from bears.files.manifest import seal
from bears.files.spreadsheet import write_csv
from bears.layout import JOURNAL
from bears.selection.configuration import composed
from stages import generate, index
from tests.answers.test_ragas import (
    FAKE,
    FILL,
    SCORES,
    SEEN,
    asked,
    journal,
    played,
    questions,
    ragas,
)
from tests.provider_server import ProviderServer
from tests.workspace import Workspace

Row = dict[str, Any]
SENTENCE = ["mine.csv", "generator=sentence"]


def given(workspace: Workspace, header: str, rows: list[list[str]]) -> None:
    write_csv(workspace.root / "mine.csv", header.split(","), rows)


def own(workspace: Workspace) -> list[list[str]]:
    return [[each["question"], each["gold_answer"]] for each in questions(workspace)]


def seen(workspace: Workspace) -> list[Row]:
    """The rows that ragas was given."""
    found: list[Row] = json.loads(workspace.text("seen.json"))
    return found


def filled(workspace: Workspace, name: str = "out/scores.rows.csv") -> list[Row]:
    return list(csv.DictReader(workspace.text(name).splitlines()))


@pytest.fixture
def scored(workspace: Workspace) -> Workspace:
    """A project with a program in the place of ragas that keeps the rows it is given."""
    played(workspace, SEEN + SCORES)
    return workspace


def test_the_benchmarks_own_questions_are_filled_as_the_pipeline_does(scored: Workspace) -> None:
    words = ["generator=sentence", "generator.documents=2"]
    folder = Path("data/mini")
    paths = {name: folder / f"translated/{name}.json" for name in ("queries", "corpus")}
    paths |= {"chunks": folder / "runs/bm25.chunks.parquet", "replies": Path("data/memory")}
    paths |= {"within": folder / "runs/bm25.within.trec", "out": Path("answers.jsonl")}
    with chdir(scored.root):
        configured(generate.main, composed("", words))(paths)
    lines = [json.loads(line) for line in scored.text("answers.jsonl").splitlines()]
    documents = json.loads(scored.text("data/mini/translated/corpus.json"))
    texts = {document["doc_id"]: document["content"] for document in documents}
    # The run is not needed, only the index.
    for run in (scored.root / "data/mini/runs").iterdir():
        run.unlink()
    given(scored, "question,ground_truth", own(scored))
    ragas(scored, "mine.csv", *words, "--out", "out/scores.json", "--system", "ours")
    assert [row["answer"] for row in seen(scored)] == [line["answer"] for line in lines]
    shown = [[texts[doc_id] for doc_id in line["shown"]] for line in lines]
    assert [row["contexts"] for row in seen(scored)] == shown
    assert "ours" in scored.text("metrics/leaderboard.csv")
    note = json.loads(scored.text("out/scores.json"))["input"]["filled"]
    assert (note["rows"], note["generator"]) == (18, "sentence")
    # What is written can be scored by itself, and gives the same.
    before, rows = scored.bytes_below("out"), seen(scored)
    ragas(scored, "out/scores.rows.csv", "--out", "again/scores.json")
    assert [{**row, "lacks": []} for row in seen(scored)] == rows
    assert scored.bytes_below("again")["scores.csv"] == before["scores.csv"]
    assert "filled" not in json.loads(scored.text("again/scores.json"))["input"]


def test_only_what_a_row_lacks_is_filled(scored: Workspace) -> None:
    first, second, *_ = own(scored)
    oslo = ["Where is Oslo?", "Norway", "", '["It rains. Oslo is in Norway."]']
    rows = [[*first, "An answer.", " "], oslo, [*second, "", "[]"], [*second, "Kept.", '["a"]']]
    given(scored, ",".join(COLUMNS), rows)
    told = ragas(scored, *SENTENCE, "--out", "out/scores.json")
    kept, cited, nothing, whole = seen(scored)
    assert kept["answer"] == "An answer."
    assert len(kept["contexts"]) == 5
    assert cited["answer"] == "Oslo is in Norway."
    assert cited["contexts"] == ["It rains. Oslo is in Norway."]
    assert nothing["contexts"] == []
    assert (whole["answer"], whole["contexts"]) == ("Kept.", ["a"])
    assert [row["answer"] for row in filled(scored)] == [row["answer"] for row in seen(scored)]
    assert "4 questions" in told
    # Without a generator, a blank cell is what the system said.
    ragas(scored, "mine.csv")
    assert [row["answer"] for row in seen(scored)] == ["An answer.", "", "", "Kept."]
    assert seen(scored)[0]["contexts"] == []


def test_a_whole_file_is_scored_as_it_is_whatever_is_selected(scored: Workspace) -> None:
    given(scored, ",".join(COLUMNS), [["Where?", "Oslo", "In Oslo.", "[]"]])
    for place, words in enumerate(
        ([], ["generator=gpt-4.1-mini"], ["generator=gpt-4.1-mini-gold"])
    ):
        ragas(scored, "mine.csv", *words, "--out", f"{place}/scores.json")
    first, *others = (scored.bytes_below(str(place)) for place in range(3))
    assert [others[0], others[1]] == [first, first]
    assert first.keys() == {"scores.json", "scores.csv"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "lacks the column answer, contexts; .* generator=NAME"),
        (["generator=gpt-4.1-mini-gold"], "generator is gpt-4.1-mini-gold, which does not answer"),
        (["generator=gpt-4.1-mini-closed-book"], "needs one with context: retrieved"),
        (["generator=sentence", "retriever=wordllama"], "index/wordllama does not exist; run"),
    ],
)
def test_what_cannot_fill_a_file_is_refused_in_a_sentence(
    words: list[str], told: str, scored: Workspace
) -> None:
    given(scored, "question,ground_truth", [["Where?", "Oslo"]])
    said = ragas(scored, "mine.csv", *words, code=1)
    assert re.search(told, said)
    assert len(said.splitlines()) == 1


def answering(request: Row) -> str:
    """Answer a generator shortly, and anything else at length; never twice the same."""
    answering.calls += 1  # type: ignore[attr-defined]
    short = "Question: " in request["messages"][-1]["content"]
    return f"Answer {answering.calls}. [CITE:1]" if short else f"Reply {answering.calls}"  # type: ignore[attr-defined]


answering.calls = 0  # type: ignore[attr-defined]


@pytest.fixture
def server(workspace: Workspace) -> Iterator[ProviderServer]:
    """A provider, and a project with three questions of which two are equal."""
    played(workspace, "")
    program = workspace.root / ENVIRONMENT / "bin" / "python"
    program.write_text(FAKE.format(python=sys.executable), encoding="utf-8")
    one, two, *_ = own(workspace)
    given(workspace, "question,ground_truth", [one, two, one])
    with ProviderServer(f"{__name__}:answering") as provider:
        yield provider


def at(server: ProviderServer) -> list[str]:
    where = [f"{part}.base_url={server.url}" for part in ("ragas", "generator")]
    prices = [f"{part}.price={{input: 0, output: 1000}}" for part in ("ragas", "generator")]
    keys = [f"{part}.api_key_env=''" for part in ("ragas", "generator")]
    return ["mine.csv", "generator=gpt-4.1-mini", *where, *prices, *keys]


@pytest.mark.slow
def test_answers_are_planned_bought_once_published_and_replayed_without_a_model(
    server: ProviderServer, workspace: Workspace
) -> None:
    plan = ragas(workspace, *at(server), "--plan", "--benchmark", "mini")
    answers, scores = plan.split("replies to ragas")
    # The usual most tokens of an answer are 150; two of the three questions are equal.
    assert re.search(r"calls +2 answer", answers)
    assert "to 0.3000" in answers
    # 2 of faithfulness, 3 of relevancy, 1 for each of 5 contexts and 1 of recall for each row.
    assert re.search(r"calls +33 chat, 6 embeddings", scores)
    told = ragas(workspace, *at(server), code=1)
    assert "2 answers by gpt-4.1-mini" in told or "3 answers by gpt-4.1-mini" in told
    assert "see what they cost with --plan, and ask for them with --fill" in told
    assert asked(server) == 0
    assert not (workspace.root / JOURNAL).exists()
    ragas(workspace, *at(server), *FILL, "--publish")
    # Two answers; of ragas as in `THREE`, 5 chats and one request for vectors of each question.
    assert asked(server) == 2 + 12
    assert len(journal(workspace)) == 14
    first = workspace.bytes_below("out")
    assert [row["answer"] for row in filled(workspace)] == ["Answer 1.", "Answer 2.", "Answer 1."]
    (workspace.root / JOURNAL).unlink()
    words = ["mine.csv", "generator=gpt-4.1-mini", "--out", "out/scores.json"]
    ragas(workspace, *words)
    assert workspace.bytes_below("out") == first
    plan = ragas(workspace, *words, "--plan")
    assert plan.count("none") == 2
    assert asked(server) == 14


def test_the_budget_of_the_generator_holds(server: ProviderServer, workspace: Workspace) -> None:
    words = [*at(server), "generator.budget=0.001", *FILL]
    told = ragas(workspace, *words, code=1)
    assert "generator.budget" in told
    assert asked(server) == 0
    assert not (workspace.root / "out").exists()


MINE = """
from pathlib import Path


def answer(question, k):
    with Path("calls.txt").open("a") as file:
        file.write(question + "\\n")
    passages = [{"text": "A text of its own."}, {"id": "DOCUMENT"}, {"id": "nowhere"}]
    return {"answer": "It is so [1].", "passages": passages}


def search(question, k):
    answer(question, k)
    return ["DOCUMENT"]
"""


@pytest.fixture
def mine(scored: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    """A function of the project, which answers and searches; the document that it names."""
    document = json.loads(scored.text("data/mini/translated/corpus.json"))[3]
    code = MINE.replace("DOCUMENT", document["doc_id"])
    (scored.root / "elsewhere.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(scored.root)
    yield document["doc_id"], document["content"]
    sys.modules.pop("elsewhere", None)


def calls(workspace: Workspace) -> list[str]:
    file = workspace.root / "calls.txt"
    return file.read_text("utf-8").splitlines() if file.exists() else []


def test_a_system_elsewhere_is_counted_asked_once_and_replayed(
    mine: tuple[str, str], scored: Workspace
) -> None:
    given(
        scored,
        "question,ground_truth,answer",
        [["a?", "g", ""], ["b?", "g", "B."], ["a?", "g", ""]],
    )
    words = ["mine.csv", "generator=mine", "generator.call=elsewhere:answer"]
    assert "2 questions must be asked of generator elsewhere" in ragas(scored, *words, code=1)
    plan = ragas(scored, *words, "--plan")
    assert "2 questions must be asked of generator elsewhere" in plan
    assert calls(scored) == []
    told = ragas(scored, *words, *FILL)
    assert "row 1: 1 passages without a text" in told
    assert calls(scored) == ["a?", "b?"]
    assert [row["answer"] for row in seen(scored)] == ["It is so.", "B.", "It is so."]
    assert {tuple(row["contexts"]) for row in seen(scored)} == {("A text of its own.", mine[1])}
    first = scored.bytes_below("out")
    ragas(scored, *words, "--out", "out/scores.json")
    assert scored.bytes_below("out") == first
    assert "0 questions must be asked" in ragas(scored, *words, "--plan")
    assert calls(scored) == ["a?", "b?"]


def test_a_retriever_elsewhere_is_counted_before_it_is_asked(
    mine: tuple[str, str], scored: Workspace
) -> None:
    given(scored, "question,ground_truth", [["a?", "g"], ["b?", "g"]])
    words = ["mine.csv", "generator=sentence", "retriever=mine", "retriever.call=elsewhere:search"]
    translated = Path("data/mini/translated")
    paths = {"corpus": translated / "corpus.json", "out": Path("data/mini/index/mine")}
    paths |= {"verified": Path("data/mini/verified/digest.json"), "timing": Path("timing.json")}
    with chdir(scored.root):
        configured(index.main, composed("", words[1:]))(paths)
        seal([paths["out"]], {})
    assert "2 questions must be asked of retriever elsewhere" in ragas(scored, *words, code=1)
    assert "2 questions must be asked of retriever elsewhere" in ragas(scored, *words, "--plan")
    assert calls(scored) == []
    ragas(scored, *words, *FILL)
    ragas(scored, *words)
    assert calls(scored) == ["a?", "b?"]
    assert [row["contexts"] for row in seen(scored)] == [[mine[1]]] * 2
