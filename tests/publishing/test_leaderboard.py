"""The leaderboard: one row per key, the same order and bytes everywhere, safe to open."""

from __future__ import annotations

import csv
import json
import multiprocessing
import random
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bears.cli import leaderboard as cli
from bears.config import read_mapping
from bears.errors import FormatError
from bears.evaluation.timing import kept_timing
from bears.files.records import sha256_of, write_json
from bears.layout import ANSWERS, LEADERBOARD, RETRIEVAL
from bears.layout import CONFIG as CONFIGURATION
from bears.publishing.leaderboard.tables import markdown, pandachat_tables, publish
from bears.results.board import HEADER, board_text, read_board
from bears.results.revision import Revision
from bears.results.row import LeaderboardRow, configuration_digest, row_of
from tests.workspace import ROOT

CONFIG = {
    "benchmark": {"accept": []},
    "chunking": {"name": "none"},
    "retriever": {"name": "bm25", "k1": 0.9, "engine": {"name": "local"}},
    "retrieve": {"depth": 100},
    "language": {"name": "ko"},
}
"""The keys of data/config.yaml that the stages declare."""

STATE = {"source": "folder, dev", "state": "5" * 12, "documents": 160}


def entry(
    system: str, ndcg: float | None = None, configuration: str = "c", **more: Any
) -> LeaderboardRow:
    values = {} if ndcg is None else {"ndcg@10": ndcg}
    return LeaderboardRow(
        *("mini", "", "s" * 12, system, configuration, "experiment"), **{"values": values, **more}
    )


class FixedRevision(Revision):
    """A revision whose files are given."""

    def __init__(
        self, config: Any, means: Any, answers: Any = None, run: Path | None = None, **more: Any
    ) -> None:
        super().__init__("main", "c" * 40)
        results = {"all": means, "benchmark": STATE, **more} if means else {}
        known = {RETRIEVAL: results, ANSWERS: {"all": answers} if answers else {}}
        self.__dict__ |= {"selection": {"benchmark": "mini"}, "config": config, "known": known}
        self.__dict__["run"] = run

    def metrics(self, path: Path) -> Any:
        return self.__dict__["known"][path]

    def output(self, pattern: str) -> Path | None:  # noqa: ARG002
        run: Path | None = self.__dict__["run"]
        return run


def row(*revision: Any, **more: Any) -> LeaderboardRow:
    found = row_of(FixedRevision(*revision, **more))
    assert found is not None
    return found


def put(board: Path, *rows: LeaderboardRow) -> list[LeaderboardRow]:
    publish(board, rows)
    return read_board(board)


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "board.csv"


def test_a_result_replaces_the_one_with_its_key(board: Path) -> None:
    put(board, entry("low", 0.1), entry("high", 0.9), entry("none"))
    rows = put(board, entry("low", 0.95), entry("low", 0.2, configuration="d"))
    found = [(row.system, row.values.get("ndcg@10")) for row in rows]
    assert found == [("high", 0.9), ("low", 0.95), ("low", 0.2), ("none", None)]


def test_each_state_has_a_table_with_the_best_system_first() -> None:
    """NFCorpus, its dev questions and SciFact are all called `beir`."""
    states = [("nfcorpus, test", "a" * 12, 323), ("nfcorpus, dev", "b" * 12, 324)]
    rows = [
        replace(
            entry(system, ndcg, questions=n, documents=3633),
            benchmark="beir",
            source=source,
            state=state,
        )
        for source, state, n in states
        for system, ndcg in (("bm25", 0.3), ("dense", 0.6))
    ]
    lines = [
        line.strip("| ").split(" ")[0] if "|" in line else line
        for line in markdown(reversed(rows), {}).split("\n")
    ]
    by = "by ndcg@&#8203;10"
    assert [line for line in lines if line.startswith(("#", "bm25", "dense"))] == [
        f"## beir (nfcorpus, dev), 324 questions, 3633 documents, state {'b' * 12}, {by}",
        *("dense", "bm25"),
        f"## beir (nfcorpus, test), 323 questions, 3633 documents, state {'a' * 12}, {by}",
        *("dense", "bm25"),
    ]


@pytest.mark.usefixtures("board")
def test_the_order_of_arrival_does_not_show(tmp_path: Path) -> None:
    rows = [entry(f"s{i}", i % 3 / 10, configuration=str(i)) for i in range(3)]
    files = set()
    for seed in range(2):
        random.Random(seed).shuffle(rows)
        publish(tmp_path / str(seed) / "board.csv", rows[:1])
        publish(tmp_path / str(seed) / "board.csv", rows[1:])
        files.add((tmp_path / str(seed) / "board.csv").read_bytes())
    assert len(files) == 1


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\x00"), max_size=20)


@given(TEXT, st.floats(0, 1))
def test_a_board_reads_what_it_wrote(tmp_path_factory: Any, system: str, ndcg: float) -> None:
    path = tmp_path_factory.mktemp("board") / "board.csv"
    written = [entry(system, round(ndcg, 6), questions=60, answered=59)]
    path.write_text(board_text(written), encoding="utf-8", newline="")
    assert read_board(path) == written


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1+1", "'=quoted"])
def test_a_cell_never_starts_a_formula(cell: str) -> None:
    cells = [c for row in csv.reader(board_text([entry(cell)]).splitlines()) for c in row]
    assert not [c for c in cells if c.startswith(("=", "+", "-", "@", "＝", "\t", "\r"))]


def test_no_text_breaks_out_of_its_row_or_cell(board: Path) -> None:
    board.write_text(board_text([entry("a\r\n=1")]), encoding="utf-8", newline="")
    assert board.read_text(encoding="utf-8").count("\n") == 2
    assert [row.system for row in read_board(board)] == ["a  =1"]
    text = markdown([entry("a|b <script>alert(1)</script> [x](javascript:1)\nnew")], {})
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
    found = row(CONFIG, means)
    assert (found.system, found.questions, found.answered) == ("bm25", 18, 17)
    assert found.values == {"ndcg@10": 0.5, "map": None}
    assert (found.source, found.state, found.documents) == ("folder, dev", "5" * 12, 160)
    assert row({**CONFIG, "retrieve": {"depth": 9}}, means).key != found.key
    for config, wrong in ((CONFIG, None), ({}, means), ({"retriever": 3}, means), (CONFIG, [1])):
        assert row_of(FixedRevision(config, wrong)) is None


def test_decisions_in_the_gold_are_counted_and_a_column_of_earlier_files_is_left_out(
    board: Path,
) -> None:
    found = replace(row(CONFIG, {"n": 18, "ndcg@10": 0.5}), decisions=84)
    assert put(board, found) == [found]
    assert "decisions" not in markdown([replace(found, decisions=None)], {})
    board.write_text(board.read_text("utf-8").replace(",decisions", ",audited"), "utf-8")
    assert read_board(board) == [replace(found, decisions=None)]


def test_answers_of_an_experiment_are_in_the_row_of_its_retrieval() -> None:
    means = {"n": 18, "ndcg@10": 0.5}
    answers: dict[str, Any] = {"n": 18, "answer_f1": 0.4, "pass_rate": None, "causes": {}}
    chosen = [("sentence", "none"), ("sentence", "contains"), ("gpt", "contains")]
    rows = [
        row({**CONFIG, "generator": {"name": generator}, "judge": {"name": judge}}, means, answers)
        for generator, judge in chosen
    ]
    assert len({found.key for found in rows}) == 3
    assert {found.configuration for found in rows} == {configuration_digest(CONFIG)}
    for found, (generator, judge) in zip(rows, chosen, strict=True):
        assert (found.generator, found.judge) == (generator, judge.replace("none", ""))
        assert found.values == {"ndcg@10": 0.5, "answer_f1": 0.4, "pass_rate": None}
    # A setting that an earlier version did not have makes no other result.
    asked = {**CONFIG, "judge": {"name": "a"}}
    times = [{**asked, "generator": {"name": "gpt", "repeats": n}} for n in (1, 3)]
    times.append({**asked, "generator": {"name": "gpt"}})
    once, thrice, before = (row(config, means, answers).answers for config in times)
    assert once == before != thrice
    for unscored, warning in ((9, "answer_unscored"), (0, ""), (None, "")):
        answers = {"n": 10, "pass_rate": 1.0, "unscored": unscored}
        assert row(CONFIG, means, answers).warnings == warning


def test_a_board_of_an_earlier_version_keeps_its_rows(board: Path) -> None:
    header = "benchmark,system,configuration,ndcg@10,low,group,differs"
    board.write_text(f"{header}\nmini,a,c,0.5,0.4,a,depth=3\n", encoding="utf-8")
    (found,) = put(board)
    assert (found.system, found.values, found.answers) == ("a", {"ndcg@10": 0.5}, "")
    assert "differs" not in board.read_text(encoding="utf-8")


@pytest.mark.usefixtures("board")
def test_every_run_that_was_timed_here_has_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    known = []
    for place, others in enumerate((0.0, 0.6, None)):
        run = tmp_path / f"{place}.trec"
        run.write_text(f"q Q0 d{place} 1 1.0 t\n")
        config = {**CONFIG, "retrieve": {"depth": place}}
        known.append(FixedRevision(config, {"n": 18}, run=run))
        measured = {"run_sha256": sha256_of(run), "seconds_per_question": 0.25 + place}
        if others is not None:
            timing = {**measured, "load_s": 1.0, "stages_ms": {}, "others": others}
            write_json(kept_timing(sha256_of(run)), timing)
    (tmp_path / "params.yaml").write_text("benchmark: mini\n")
    monkeypatch.setattr(cli, "revisions", lambda _: known)
    cli.update()
    rows = {row.configuration: row for row in read_board(LEADERBOARD)}
    ordered = [rows[configuration_digest(each.config)] for each in known]
    assert [row.seconds_per_question for row in ordered] == [0.25, 1.25, None]
    assert [row.warnings for row in ordered] == ["", "timed_on_a_busy_machine", ""]


def times_in(board: Path) -> list[str]:
    return [row["timestamp"] for row in csv.DictReader(board.read_text("utf-8").splitlines())]


def test_a_submission_keeps_the_time_of_its_scoring_until_its_score_changes(board: Path) -> None:
    theirs = replace(entry("theirs", 0.1234567), origin="submission")
    before = datetime.now(UTC).replace(microsecond=0)
    put(board, theirs)
    (scored,) = times_in(board)
    assert before <= datetime.fromisoformat(scored) <= datetime.now(UTC)
    assert scored.endswith("+00:00")
    earlier = board.read_text("utf-8").replace(scored, "2020-02-02T02:02:02+00:00")
    board.write_text(earlier, "utf-8")
    put(board, theirs, entry("ours", 0.1))
    assert times_in(board) == ["", "2020-02-02T02:02:02+00:00"]
    once = board.read_bytes()
    put(board, entry("ours", 0.1))
    put(board, theirs)
    assert board.read_bytes() == once
    put(board, replace(theirs, values={"ndcg@10": 0.9}))
    assert datetime.fromisoformat(times_in(board)[1]) >= before


def test_rows_of_an_earlier_version_get_no_time_that_is_not_theirs(board: Path) -> None:
    theirs = replace(entry("theirs", 0.1), origin="submission")
    old = board_text([theirs]).replace(",timestamp", ",audited")
    board.write_text(old, "utf-8")
    put(board, entry("ours", 0.2))
    assert times_in(board) == ["", ""]


@pytest.mark.usefixtures("board")
def test_a_run_has_the_time_of_its_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "params.yaml").write_text("benchmark: mini\n")
    run = tmp_path / "a.trec"
    run.write_text("q Q0 d 1 1.0 t\n")
    ran = FixedRevision(CONFIG, {"n": 18, "ndcg@10": 0.5}, run=run)
    monkeypatch.setattr(cli, "revisions", lambda _: [ran])
    cli.update()
    assert times_in(LEADERBOARD) == [""]
    started = "2023-11-14T20:00:00+00:00"
    write_json(kept_timing(sha256_of(run)), {"started": started, "seconds": 1.0, **timed(run)})
    cli.update()
    assert times_in(LEADERBOARD) == [started]
    # A fresh clone has the leaderboard, and no timing.
    kept_timing(sha256_of(run)).unlink()
    cli.update()
    assert times_in(LEADERBOARD) == [started]


def timed(run: Path) -> dict[str, Any]:
    return {"run_sha256": sha256_of(run), "seconds_per_question": 1, "load_s": 1, "stages_ms": {}}


def test_the_digest_covers_what_decides_the_result() -> None:
    config = read_mapping(ROOT / CONFIGURATION)
    digest = configuration_digest(config)
    for change, same in (
        ({"retriever": {**config["retriever"], "engine": {"name": "ray"}}}, True),
        ({"evaluate": {"measures": ["map"]}}, True),
        ({"retrieve": {"depth": 9}}, False),
        ({"sample": {**config["sample"], "seed": 8}}, False),
    ):
        assert change.keys() <= config.keys()
        assert (configuration_digest({**config, **change}) == digest) == same


PANDA = {"success@2": 150 / 206, "retrieval_accuracy@2": 100 * 149 / 206}


def test_pandachats_table_is_a_view_of_the_leaderboard(tmp_path: Path) -> None:
    ours = replace(entry("ours", questions=206, values=PANDA), benchmark="pandachat-sl")
    theirs = replace(ours, system="theirs", values={**PANDA, "success@2": 1.0})
    unknown = replace(ours, system="unknown", values={"map": 0.1})
    files = pandachat_tables(tmp_path / "leaderboard.csv", [ours, theirs, unknown])
    assert {path.name for path in files} == {"pandachat-sl.json", "pandachat-sl.md"}
    lines = json.loads(files[tmp_path / "pandachat-sl.json"])
    assert [line["system"] for line in lines] == ["theirs", "ours"]
    assert lines[1]["correct_retrieval_count"] == 149
    assert lines[1]["correct_in_documents_count"] == 150
    assert lines[1]["correct_in_documents_per"] == pytest.approx(72.8155339)
    assert (lines[1]["state"], lines[1]["configuration"]) == ("s" * 12, "c")
    assert list(pandachat_tables(tmp_path / "b.csv", [replace(ours, benchmark="leaderboard")])) == [
        tmp_path / "pandachat-leaderboard.json",
        tmp_path / "pandachat-leaderboard.md",
    ]


def _publish_one(board: Path, number: int) -> None:
    publish(board, [entry(f"s{number:02}", questions=206, values=PANDA)])


def test_processes_that_publish_at_once_lose_no_row(board: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_publish_one, args=(board, n)) for n in range(6)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    names = [f"s{number:02}" for number in range(6)]
    assert [row.system for row in read_board(board)] == names
    table = json.loads(board.with_name("pandachat-mini.json").read_bytes())
    assert [row["system"] for row in table] == names
