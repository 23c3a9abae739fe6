"""The leaderboard: one row a key, the same order and bytes everywhere, safe to open."""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bears.cli import leaderboard as cli
from bears.errors import FormatError
from bears.evaluation.comparison.revision import Revision
from bears.files.digest import sha256_of
from bears.publishing.leaderboard import pandachat
from bears.publishing.leaderboard.board import (
    BOARD,
    HEADER,
    markdown,
    read_board,
    upsert,
)
from bears.publishing.leaderboard.experiments import State, configuration_digest, entries
from bears.publishing.leaderboard.publish import publish
from bears.publishing.leaderboard.row import LeaderboardRow

CONFIG = {
    "benchmark": {"accept": []},
    "chunking": {"name": "none"},
    "retriever": {"name": "bm25", "k1": 0.9, "engine": {"name": "local"}},
    "retrieve": {"depth": 100},
    "digest": {"code": "c", "language": "l"},
}
"""As `dvc exp show` gives it: the keys that the stages declare."""


STATE = {"source": "folder, dev", "state": "5" * 12, "documents": 160}


def entry(
    system: str, ndcg: float | None = None, configuration: str = "c", **more: Any
) -> LeaderboardRow:
    values = {} if ndcg is None else {"ndcg@10": ndcg}
    return LeaderboardRow(
        "mini", "", "s" * 12, system, configuration, "experiment", values=values, **more
    )


def state(config: dict[str, Any], means: Any, answers: Any = None) -> State:
    results = {"all": means, "benchmark": STATE} if means else {}
    return State({"benchmark": "mini"}, config, results, {"all": answers} if answers else {})


def test_the_best_stand_first_and_a_row_is_replaced() -> None:
    board = upsert([], [entry("low", 0.1), entry("high", 0.9), entry("none")])
    assert [row.system for row in board] == ["high", "low", "none"]
    board = upsert(board, [entry("low", 0.95)])
    assert [(row.system, row.values.get("ndcg@10")) for row in board] == [
        ("low", 0.95),
        ("high", 0.9),
        ("none", None),
    ]


def test_another_configuration_is_another_row() -> None:
    assert len(upsert([entry("a", 0.1)], [entry("a", 0.2, configuration="d")])) == 2


def test_rows_of_different_records_stand_apart() -> None:
    """NFCorpus, its dev questions and SciFact are all called `beir`."""
    states = [("nfcorpus, test", "a" * 12, 323), ("nfcorpus, dev", "b" * 12, 324)]
    rows = [
        LeaderboardRow(
            *("beir", source, state, system, "c", "experiment"),
            questions=n,
            documents=3633,
            values={"ndcg@10": ndcg},
        )
        for source, state, n in states
        for system, ndcg in (("bm25", 0.3), ("dense", 0.4))
    ]
    board = upsert([], reversed(rows))
    assert len(board) == 4
    lines = [
        line.strip("| ").split(" ")[0] if "|" in line else line
        for line in markdown(board).split("\n")
    ]
    assert [line for line in lines if line.startswith(("#", "bm25", "dense"))] == [
        f"## beir (nfcorpus, dev), 324 questions, 3633 documents, state {'b' * 12}",
        *("dense", "bm25"),
        f"## beir (nfcorpus, test), 323 questions, 3633 documents, state {'a' * 12}",
        *("dense", "bm25"),
    ]


@pytest.mark.parametrize(("chunking", "sources"), [("none", 150), ("tokens", None)])
def test_what_is_counted_over_sources_is_not_known_of_chunked_documents(
    chunking: str, sources: int | None
) -> None:
    values = {"success@2": 150 / 206, "retrieval_accuracy@2": 100 * 150 / 206}
    row = replace(entry("ours", questions=206, chunking=chunking), values=values)
    found = cli._pandachat_row(row)
    assert found is not None
    assert found["correct_retrieval_count"] == sources
    assert found["correct_in_documents_count"] == 150
    assert ("retrieval_accuracy@2" in cli._without_sources(row).values) == (sources is not None)


def test_the_order_of_arrival_never_shows(tmp_path: Path) -> None:
    rows = [entry(f"s{i}", i % 3 / 10, configuration=str(i)) for i in range(9)]
    files = set()
    for seed in range(5):
        random.Random(seed).shuffle(rows)
        for row in rows:
            publish(tmp_path / str(seed) / "board.csv", [row], {})
        files.add((tmp_path / str(seed) / "board.csv").read_bytes())
    assert len(files) == 1


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\x00"), max_size=20)


@given(TEXT, st.floats(0, 1))
def test_what_is_written_is_read_back(tmp_path_factory: Any, system: str, ndcg: float) -> None:
    path = tmp_path_factory.mktemp("board") / "board.csv"
    publish(path, [entry(system, round(ndcg, 6), questions=60, answered=59)], {})
    (row,) = read_board(path)
    assert row == entry(system, round(ndcg, 6), questions=60, answered=59)
    publish(path, [entry(system, round(ndcg, 6), questions=60, answered=59)], {})
    assert len(read_board(path)) == 1


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1+1", "'=quoted"])
def test_a_cell_never_starts_a_formula(cell: str, tmp_path: Path) -> None:
    publish(tmp_path / "board.csv", [entry(cell)], {})
    with (tmp_path / "board.csv").open(encoding="utf-8", newline="") as stream:
        cells = [each for row in csv.reader(stream) for each in row]
    assert not [each for each in cells if each.startswith(("=", "+", "-", "@", "＝", "\t", "\r"))]


def test_a_line_break_cannot_start_another_row(tmp_path: Path) -> None:
    publish(tmp_path / "board.csv", [entry("a\r\n=1")], {})
    assert (tmp_path / "board.csv").read_text(encoding="utf-8").count("\n") == 2
    assert [row.system for row in read_board(tmp_path / "board.csv")] == ["a  =1"]


def test_no_text_leaves_its_cell_in_markdown() -> None:
    text = markdown([entry("a|b <script>alert(1)</script> [x](javascript:1)\nnew")])
    assert [line[:1] for line in text.splitlines()] == ["#", "", "|", "|", "|"]
    assert "<script>" not in text
    assert "a\\|b" in text
    assert "\\[x\\]\\(javascript:1\\)" in text


def test_a_file_with_another_header_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "board.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(FormatError, match=f"expected the header {HEADER[0]}"):
        read_board(tmp_path / "board.csv")
    assert read_board(tmp_path / "absent.csv") == []


def test_experiments_become_rows_and_failed_ones_do_not() -> None:
    means = {"n": 18, "answered": 17, "ndcg@10": 0.5, "map": None, "strict@2": 0.1}
    rows = entries(
        [
            state(CONFIG, means),
            state({**CONFIG, "retrieve": {"depth": 9}}, means),
            state(CONFIG, None),
            State({}, {}, {}, {}),
            State({"benchmark": []}, {"retriever": 3}, {"all": [1], "benchmark": "x"}, {}),
        ]
    )
    assert len(rows) == 2
    assert rows[0].system == "bm25"
    assert (rows[0].questions, rows[0].answered) == (18, 17)
    assert rows[0].values == {"ndcg@10": 0.5, "map": None}
    assert (rows[0].source, rows[0].state, rows[0].documents) == ("folder, dev", "5" * 12, 160)


def test_a_figure_on_the_audited_gold_stands_in_a_column_of_its_own(tmp_path: Path) -> None:
    on_published = state(CONFIG, {"n": 18, "ndcg@10": 0.5})
    results = {**on_published.results, "audited": {"n": 18, "ndcg@10": 0.4}}
    publish(tmp_path / "board.csv", entries([replace(on_published, results=results)]), {})
    (row,) = read_board(tmp_path / "board.csv")
    assert (row.values["ndcg@10"], row.audited) == (0.5, 0.4)
    assert "audited" not in markdown(entries([on_published]))


def test_a_row_has_what_any_experiment_of_the_same_ranking_was_asked_for() -> None:
    newest = {"n": 18, "answered": 17, "ndcg@10": 0.5, "map": 0.4}
    same = {"n": 18, "answered": 17, "ndcg@10": 0.5, "recall@10": 0.9}
    other = {"n": 18, "answered": 17, "ndcg@10": 0.6, "mrr@10": 0.7}
    (row,) = entries(state(CONFIG, means) for means in (newest, same, other))
    assert row.values == {"ndcg@10": 0.5, "map": 0.4, "recall@10": 0.9}


def test_answers_of_an_experiment_stand_in_the_row_of_its_retrieval() -> None:
    means = {"n": 18, "ndcg@10": 0.5}
    told: dict[str, Any] = {
        "n": 18,
        "answer_f1": 0.4,
        "exact_match": 0.1,
        "pass_rate": None,
        "causes": {},
    }

    def answered(generator: str, judge: str) -> State:
        config = {**CONFIG, "generator": {"name": generator}, "judge": {"name": judge}}
        return state(config, means, told if generator else None)

    chosen = [("", ""), ("sentence", "none"), ("sentence", "contains"), ("gpt", "contains")]
    experiments = [answered(*each) for each in chosen]
    experiments[0] = state({**CONFIG, "generator": {"name": "none"}}, means)
    for shown in (experiments, experiments[::-1]):
        board = upsert([], entries(shown))
        assert [(row.generator, row.judge) for row in board if row.answers] == sorted(
            (("gpt", "contains"), ("sentence", "contains"), ("sentence", "")),
            key=lambda pair: next(r.key for r in board if (r.generator, r.judge) == pair),
        )
        assert len(board) == 3  # the retrieval alone is in each of them
        assert {row.configuration for row in board} == {configuration_digest(CONFIG)}
        for row in board:
            assert row.values["ndcg@10"] == 0.5
            assert (row.values["answer_f1"], row.values["pass_rate"]) == (0.4, None)


RANKED = LeaderboardRow(
    *("mini", "", "s" * 12, "theirs", "r" * 12, "submission"),
    values={"ndcg@10": 0.5},
    warnings="short_list",
)
ANSWERED = LeaderboardRow(
    *("mini", "", "s" * 12, "theirs", "", "submission"),
    answers="a" * 12,
    values={"answer_f1": 0.4},
    warnings="answer_missing",
)


@pytest.mark.parametrize("order", [(RANKED, ANSWERED), (ANSWERED, RANKED)])
def test_a_systems_retrieval_and_answers_become_one_row(
    order: tuple[LeaderboardRow, ...], tmp_path: Path
) -> None:
    judged = replace(ANSWERED, judge="contains", values={"pass_rate": 0.7}, warnings="")
    better = replace(RANKED, values={"ndcg@10": 0.6}, warnings="")
    for entry in (*order, judged, better, *order[:1], better):
        board = publish(tmp_path / "board.csv", [entry], {})
    (row,) = board
    assert read_board(tmp_path / "board.csv") == [row]
    assert row.values == {"ndcg@10": 0.6, "answer_f1": 0.4, "pass_rate": 0.7}
    assert (row.configuration, row.answers, row.judge) == ("r" * 12, "a" * 12, "contains")
    assert row.warnings == "answer_missing"


@pytest.mark.parametrize(("unscored", "told"), [(9, "answer_unscored"), (0, ""), (None, "")])
def test_an_experiment_that_a_judge_scored_in_part_says_so(unscored: int | None, told: str) -> None:
    answers = {"n": 10, "pass_rate": 1.0, "unscored": unscored}
    (row,) = entries([state(CONFIG, {"n": 10, "ndcg@10": 0.5}, answers)])
    assert row.warnings == told


def test_what_was_unscored_is_forgotten_once_it_is_judged() -> None:
    part = replace(ANSWERED, judge="local", values={"pass_rate": 0.4}, warnings="answer_unscored")
    whole = replace(part, values={"pass_rate": 0.5}, warnings="")
    (row,) = upsert([], [ANSWERED, part, replace(ANSWERED, judge="")])
    assert row.warnings == "answer_missing, answer_unscored"
    (row,) = upsert([row], [whole])
    assert (row.warnings, row.values["pass_rate"]) == ("answer_missing", 0.5)


def test_answers_join_nobody_elses_retrieval_and_none_of_several() -> None:
    others = [
        replace(RANKED, system="ours"),
        replace(RANKED, state="t" * 12),
        replace(RANKED, origin="experiment"),
    ]
    assert len(upsert(others, [ANSWERED])) == 4
    several = [RANKED, replace(RANKED, configuration="q" * 12)]
    assert ANSWERED in upsert(several, [ANSWERED])
    same_file = replace(ANSWERED, answers="q" * 12)
    board = upsert(several, [same_file])
    assert [(row.configuration[:1], row.answers[:1]) for row in board] == [("q", "q"), ("r", "")]
    other_answers = replace(ANSWERED, answers="b" * 12, values={"answer_f1": 0.3})
    board = upsert([RANKED], [ANSWERED, other_answers])
    assert [(row.answers[:1], row.values["answer_f1"]) for row in board] == [("a", 0.4), ("b", 0.3)]
    assert {row.configuration for row in board} == {"r" * 12}


def test_a_board_of_an_earlier_version_keeps_its_rows(tmp_path: Path) -> None:
    board = tmp_path / "board.csv"
    board.write_text("benchmark,system,configuration,ndcg@10\nmini,a,c,0.5\n", encoding="utf-8")
    (row,) = read_board(board)
    assert (row.system, row.values, row.answers) == ("a", {"ndcg@10": 0.5}, "")


def test_the_time_is_that_of_the_configuration_which_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = tmp_path / "data" / "mini" / "runs"
    runs.mkdir(parents=True)
    (runs / "bm25.trec").write_text("q Q0 d 1 1.0 t\n")
    measured = {"run_sha256": sha256_of(runs / "bm25.trec"), "seconds_per_question": 0.25}
    measured |= {"load_s": 1.0, "stages_ms": {}}
    (runs / "bm25.timing.json").write_text(json.dumps(measured))
    other = state({**CONFIG, "retrieve": {"depth": 9}}, {"n": 18})
    known = {
        Revision("main", "c" * 40, Path()): other,
        Revision("workspace", "", Path()): state(CONFIG, {"n": 18}),
    }
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text("benchmark: mini\n")
    monkeypatch.setattr(cli, "revisions", lambda _: known)
    monkeypatch.setattr(cli, "states", lambda: known)
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    arguments = parser.parse_args([])
    arguments.run(arguments)
    times = {row.configuration: row.seconds_per_question for row in read_board(BOARD)}
    assert times == {
        configuration_digest(CONFIG): 0.25,
        configuration_digest({**CONFIG, "retrieve": {"depth": 9}}): None,
    }


def test_the_digest_is_of_what_decides_the_result() -> None:
    digest = configuration_digest(CONFIG)
    elsewhere = {**CONFIG["retriever"], "engine": {"name": "ray"}}  # type: ignore[dict-item]
    assert configuration_digest({**CONFIG, "retriever": elsewhere}) == digest
    assert configuration_digest({**CONFIG, "evaluate": {"measures": ["map"]}}) == digest
    assert configuration_digest({**CONFIG, "digest": {"code": "d", "language": "l"}}) == digest
    assert configuration_digest({**CONFIG, "retrieve": {"depth": 9}}) != digest
    assert configuration_digest({**CONFIG, "digest": {"code": "c", "language": "m"}}) != digest


def test_pandachats_table_tells_rows_apart_as_the_leaderboard_does(tmp_path: Path) -> None:
    board, table = tmp_path / "leaderboard.csv", tmp_path / "pandachat-sl.json"

    def put(entry: LeaderboardRow, in_documents: int) -> None:
        counts = None, in_documents, 206
        row = pandachat.row(entry, "aqa-sl", entry.system, 2, *counts)
        publish(board, [entry], {"pandachat-sl": [row]})

    first, other = entry("ours", 0.5), entry("theirs", 0.4)
    put(first, 150)
    put(other, 206)
    files = [table, table.with_suffix(".md"), board, board.with_suffix(".md")]
    before = [file.read_bytes() for file in files]
    put(first, 150)
    assert [file.read_bytes() for file in files] == before
    for change in ("source", "state", "configuration"):
        put(replace(first, **{change: "another"}), 150)  # type: ignore[arg-type]
    rows = json.loads(table.read_bytes())
    assert [row["system"] for row in rows] == ["theirs", *["ours"] * 4]
    assert len(read_board(board)) == 5
    assert rows[1]["correct_retrieval_per"] is None
    assert rows[1]["correct_in_documents_per"] == pytest.approx(72.8155339)
    assert list(rows[0])[:8] == [
        "eval_scenario",
        "system",
        "evaluated-top-k",
        "time_per_question (s)",
        "correct_retrieval_count",
        "correct_retrieval_per",
        "correct_in_documents_count",
        "correct_in_documents_per",
    ]


def test_a_table_that_cannot_be_read_leaves_the_other_as_it_was(tmp_path: Path) -> None:
    board, table = tmp_path / "leaderboard.csv", tmp_path / "pandachat-sl.json"
    table.write_text('[{"system": "ours"}]', encoding="utf-8")
    row = pandachat.row(entry("ours"), "aqa-sl", "ours", 2, None, 150, 206)
    with pytest.raises(FormatError, match=r"pandachat-sl\.json: .*remove the file"):
        publish(board, [entry("ours")], {"pandachat-sl": [row]})
    assert [file.name for file in tmp_path.iterdir()] == ["pandachat-sl.json"]


@pytest.mark.parametrize("name", ["leaderboard", "retrieval", "pandachat-sl"])
def test_pandachats_table_lies_on_no_other_file(name: str) -> None:
    path = pandachat.place(BOARD, name)
    assert path.parent == BOARD.parent
    assert path.name.startswith("pandachat")


def _publish_one(board: Path, number: int) -> None:
    row = pandachat.row(entry(f"s{number:02}"), "aqa-sl", f"s{number:02}", 2, None, 150, 206)
    publish(board, [entry(f"s{number:02}")], {"pandachat-sl": [row]})


def test_twelve_who_publish_at_once_lose_no_row(tmp_path: Path) -> None:
    board = tmp_path / "leaderboard.csv"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_publish_one, args=(board, n)) for n in range(12)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    names = [f"s{number:02}" for number in range(12)]
    assert [row.system for row in read_board(board)] == names
    table = json.loads((tmp_path / "pandachat-sl.json").read_bytes())
    assert [row["system"] for row in table] == names
