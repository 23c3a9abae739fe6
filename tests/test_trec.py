"""Run files: what is written is what is read, and what cannot be trusted is refused by line."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bears.errors import FormatError
from bears.formats.trec import order, read_run, write_run
from bears.types import Hit, Ranking

IDS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=4
)
SCORES = st.floats(allow_nan=False, allow_infinity=False)
RANKINGS = st.dictionaries(IDS, SCORES, min_size=1, max_size=6).map(
    lambda documents: order(Hit(doc_id, score) for doc_id, score in documents.items())
)


def written(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "run.trec"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


def ids(ranking: Ranking) -> list[str]:
    return [hit.doc_id for hit in ranking]


def test_the_higher_score_comes_first() -> None:
    assert ids(order([Hit("a", 0.5), Hit("b", 2.0), Hit("c", -1.0)])) == ["b", "a", "c"]


def test_equal_scores_are_ordered_by_descending_id() -> None:
    assert ids(order([Hit("d1", 1.0), Hit("d3", 1.0), Hit("d10", 1.0)])) == ["d3", "d10", "d1"]


def test_negative_zero_ties_with_zero() -> None:
    assert ids(order([Hit("a", 0.0), Hit("b", -0.0)])) == ["b", "a"]


@given(st.sets(IDS))
def test_ids_are_compared_as_utf8_bytes(doc_ids: set[str]) -> None:
    expected = sorted(doc_ids, key=lambda doc_id: doc_id.encode(), reverse=True)
    assert ids(order(Hit(doc_id, 1.0) for doc_id in doc_ids)) == expected


def test_an_id_beyond_the_basic_plane_is_above_a_full_width_one() -> None:
    # In UTF-16 the order is the other way round.
    assert ids(order([Hit("\uff21", 1.0), Hit("\U0001f43b", 1.0)])) == ["\U0001f43b", "\uff21"]


def test_a_ranking_has_each_document_once() -> None:
    with pytest.raises(FormatError, match="'a' occurs more than once"):
        order([Hit("a", 2.0), Hit("b", 1.5), Hit("a", 1.0)])


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_ranking_has_finite_scores(score: float) -> None:
    with pytest.raises(FormatError, match=r"document 'a': the score .* is not finite"):
        order([Hit("a", score), Hit("b", 1.0)])


def test_the_file_has_six_columns_in_the_order_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "new" / "run.trec"
    run = {"q2": (Hit("a", 0.1), Hit("b", 0.1)), "q1": (Hit("a", 1e-7),)}
    write_run(path, run, "bm25")
    assert path.read_bytes() == (
        b"q2 Q0 b 1 0.1 bm25\n"
        b"q2 Q0 a 2 0.1 bm25\n"
        b"q1 Q0 a 1 1e-07 bm25\n"
    )  # fmt: skip


@settings(deadline=None)  # each example waits for the disk
@given(run=st.dictionaries(IDS, RANKINGS, max_size=4))
def test_reading_what_was_written_gives_it_back(
    run: dict[str, Ranking], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("identity") / "run.trec"
    write_run(path, run, "bears")
    again = read_run(path, set(run))
    assert again == run
    assert list(again) == list(run)
    assert [repr(r) for r in again.values()] == [repr(r) for r in run.values()]


def test_a_question_with_an_empty_ranking_leaves_no_line(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    write_run(path, {"q1": (), "q2": (Hit("a", 1.0),)}, "bears")
    assert read_run(path, None) == {"q2": (Hit("a", 1.0),)}


def test_an_empty_run_is_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    write_run(path, {}, "bears")
    assert path.read_bytes() == b""
    assert read_run(path, {"q1"}) == {}


def test_neither_the_order_of_the_lines_nor_the_rank_column_counts(tmp_path: Path) -> None:
    lines = [f"q{n % 3} Q0 d{n} {n} {n % 4 / 4} tag" for n in range(30)]
    expected = read_run(written(tmp_path, *lines), None)
    shuffled = [line.replace(f" {n} ", " 1 ") for n, line in enumerate(lines)]
    random.Random(7).shuffle(shuffled)
    assert read_run(written(tmp_path, *shuffled), None) == expected
    assert ids(expected["q0"])[:3] == ["d3", "d27", "d15"]


def test_tabs_runs_of_spaces_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, "q1\tQ0\tFR94-1\t104\t  2.129133\tSTANDARD\r")
    assert read_run(path, ["q1"]) == {"q1": (Hit("FR94-1", 2.129133),)}


def test_a_line_ends_at_lf_alone(tmp_path: Path) -> None:
    path = written(tmp_path, "q1 Q0 a 1 1.0 tag", "q1 Q0 b\u20281 2 0.5 tag")
    with pytest.raises(FormatError, match=r"run\.trec, line 2: doc_id .* holds whitespace"):
        read_run(path, None)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q1 Q0 b 2 0.5", "5 columns, expected six"),
        ("q1 Q0 b 2 0.5 my tag", "7 columns, expected six"),
        ("", "0 columns, expected six"),
        ("q1 Q0 b 2 nan tag", "the score 'nan' is not a finite number"),
        ("q1 Q0 b 2 -inf tag", "the score '-inf' is not a finite number"),
        ("q1 Q0 b 2 1e999 tag", "the score '1e999' is not a finite number"),
        ("q1 Q0 b 2 high tag", "the score 'high' is not a finite number"),
        ("q1 Q0 b 2 1_0 tag", "the score '1_0' is not a finite number"),
        ("q1 Q0 b 2 \uff11 tag", "the score '\uff11' is not a finite number"),
        ("q1 Q0 a 2 0.5 tag", "question 'q1' already has document 'a'"),
        ("q1 Q0 b\u3000c 2 0.5 tag", "doc_id .* holds whitespace"),
        ("q\u00a01 Q0 b 2 0.5 tag", "question_id .* holds whitespace"),
        ("q9 Q0 b 2 0.5 tag", "question 'q9' is not a question of this benchmark"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    path = written(tmp_path, "q1 Q0 a 1 1.0 tag", line)
    with pytest.raises(FormatError, match=rf"run\.trec, line 2: {problem}"):
        read_run(path, ["q1"])


def test_a_line_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_bytes(b"q1 Q0 a 1 1.0 tag\nq1 Q0 \xff 2 0.5 tag\n")
    with pytest.raises(FormatError, match=r"run\.trec, line 2: .*utf-8"):
        read_run(path, None)


def test_without_question_ids_every_question_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, "q9 Q0 b 1 0.5 tag")
    assert read_run(path, None) == {"q9": (Hit("b", 0.5),)}


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"absent\.trec: no such file"):
        read_run(tmp_path / "absent.trec", None)


@pytest.mark.parametrize(
    ("run", "tag", "problem"),
    [
        ({"q 1": (Hit("a", 1.0),)}, "tag", "question_id 'q 1'"),
        ({"": (Hit("a", 1.0),)}, "tag", "question_id ''"),
        ({"q1": (Hit("a\n", 1.0),)}, "tag", "doc_id"),
        ({"q1": (Hit("a", 1.0),)}, "my tag", "tag 'my tag'"),
        ({"q1": (Hit("a", math.nan),)}, "tag", "question 'q1', document 'a': the score nan"),
        ({"q1": (Hit("a", 1.0), Hit("a", 2.0))}, "tag", "'a' occurs more than once"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(
    tmp_path: Path, run: dict[str, Ranking], tag: str, problem: str
) -> None:
    path = written(tmp_path, "q0 Q0 old 1 1.0 tag")
    before = path.read_bytes()
    with pytest.raises(FormatError, match=f"was not written: .*{problem}"):
        write_run(path, run, tag)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
