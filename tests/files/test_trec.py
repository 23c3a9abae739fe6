"""Run files: what is written is what is read, and what cannot be trusted is refused by line."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bears.errors import FormatError
from bears.files import trec
from bears.files.manifest import seal
from bears.files.trec import order, read_table, run_of_rankings
from bears.types import Hit, Ranking
from tests.runs import read_run, write_run

IDS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=4
)
SCORES = st.floats(allow_nan=False, allow_infinity=False)
RANKINGS = st.dictionaries(IDS, SCORES, max_size=6).map(
    lambda documents: order(Hit(doc_id, score) for doc_id, score in documents.items())
)


def written(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "run.trec"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


def ids(ranking: Ranking) -> list[str]:
    return [hit.doc_id for hit in ranking]


@given(st.sets(IDS))
def test_ids_are_compared_as_utf8_bytes(doc_ids: set[str]) -> None:
    expected = sorted(doc_ids, key=lambda doc_id: doc_id.encode(), reverse=True)
    assert ids(order(Hit(doc_id, 1.0) for doc_id in doc_ids)) == expected


@pytest.mark.parametrize(
    ("hits", "said"),
    [
        ((Hit("a", 2.0), Hit("b", 1.5), Hit("a", 1.0)), "'a' occurs more than once"),
        *(
            ((Hit("a", score), Hit("b", 1.0)), "document 'a': the score .* is not finite")
            for score in (math.nan, math.inf, -math.inf)
        ),
    ],
)
def test_a_ranking_has_each_document_once_with_a_finite_score(
    hits: tuple[Hit, ...], said: str
) -> None:
    with pytest.raises(FormatError, match=said):
        order(hits)


def test_the_file_has_six_columns_in_the_order_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "new" / "run.trec"
    run = {"q2": (Hit("a", 0.1), Hit("b", 0.1)), "q1": (Hit("a", 1e-7),)}
    write_run(path, run, "bm25")
    assert path.read_bytes() == (
        b"q2 Q0 b 1 0.1 bm25\n"
        b"q2 Q0 a 2 0.1 bm25\n"
        b"q1 Q0 a 1 1e-07 bm25\n"
    )  # fmt: skip


@given(run=st.dictionaries(IDS, RANKINGS, max_size=4))
def test_reading_what_was_written_gives_it_back(
    run: dict[str, Ranking], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("identity") / "run.trec"
    write_run(path, run, "bears")
    found = [(question_id, repr(hits)) for question_id, hits in read_run(path, set(run)).items()]
    # A question with an empty ranking leaves no line.
    assert found == [(question_id, repr(hits)) for question_id, hits in run.items() if hits]


def test_a_run_that_differs_from_its_manifest_is_refused(tmp_path: Path) -> None:
    run = written(tmp_path, "q1 Q0 a 1 2.0 tag", "q2 Q0 a 1 2.0 tag")
    seal([run], {})
    assert len(read_table(run, None).question_ids) == 2
    written(tmp_path, "q1 Q0 a 1 2.0 tag")
    with pytest.raises(FormatError, match=r"run\.trec has 18 bytes, but 36 in .*run\.manifest"):
        read_table(run, None)
    # A name so long that a manifest beside it could not be named.
    own = run.rename(tmp_path / f"{'x' * 250}.trec")
    assert len(read_table(own, None).question_ids) == 1


def test_neither_the_order_of_the_lines_nor_the_rank_column_counts(tmp_path: Path) -> None:
    lines = [f"q{n % 3} Q0 d{n} {n} {n % 4 / 4} tag" for n in range(30)]
    expected = read_run(written(tmp_path, *lines), None)
    shuffled = [line.replace(f" {n} ", " 1 ") for n, line in enumerate(lines)]
    random.Random(7).shuffle(shuffled)
    assert read_run(written(tmp_path, *shuffled), None) == expected
    assert ids(expected["q0"])[:3] == ["d3", "d27", "d15"]


@pytest.mark.parametrize(
    ("lines", "hits"),
    [
        (["q\tQ0\tFR94-1\t104\t  2.129133\tSTANDARD\r"], [Hit("FR94-1", 2.129133)]),
        (
            ["q Q0 a 1 1.0 STANDARD more junk at", "q Q0 b 2 0.5 tag"],
            [Hit("a", 1.0), Hit("b", 0.5)],
        ),
        (
            ['q Q0 "a 1 2.0 "tag', "q Q0 null 2 1.5 tag", "q Q0 'b,c\\\" 3 1.0 tag"],
            [Hit('"a', 2.0), Hit("null", 1.5), Hit("'b,c\\\"", 1.0)],
        ),
        (["\ufeffq Q0 a 1 1.0 tag"], [Hit("a", 1.0)]),
        (["\ufeffq  Q0 a 1 1.0 tag"], [Hit("a", 1.0)]),
        *(
            ([f"q Q0 a 1 {text} tag"], [Hit("a", score)])
            for text, score in {
                **{"1e-3": 0.001, "-2.5E+2": -250.0, "+1": 1.0, ".5": 0.5, "7.": 7.0, "0.1": 0.1},
                **{"9007199254740993": 9007199254740992.0, "4.9e-324": 5e-324},
            }.items()
        ),
    ],
)
def test_what_other_tools_write_is_read_to_the_last_bit(
    tmp_path: Path, lines: list[str], hits: list[Hit]
) -> None:
    assert read_run(written(tmp_path, *lines), ["q"]) == {"q": tuple(hits)}


def test_words_that_mean_nothing_to_a_table_are_plain_ids(tmp_path: Path) -> None:
    assert ids(read_run(written(tmp_path, "NA Q0 NA 1 1.0 NA"), ["NA"])["NA"]) == ["NA"]


def test_a_run_in_columns_has_its_rankings_in_order(tmp_path: Path) -> None:
    lines = ["q2 Q0 b 1 0.5 t", "q1 Q0 a 1 1.0 t", "q2 Q0 a 1 0.5 t", "q2 Q0 c 1 0.7 t"]
    table = read_table(written(tmp_path, *lines), None)
    assert table.question_ids == ["q2", "q1"]
    assert table.starts.tolist() == [0, 3, 4]
    assert [table.doc_ids[code] for code in table.documents] == ["c", "b", "a", "a"]
    assert table.scores.tolist() == [0.7, 0.5, 0.5, 1.0]


def test_the_run_of_rankings_has_them_in_order() -> None:
    run = {"q1": (Hit("a", 1.0), Hit("b", 2.0)), "q2": (), "q3": (Hit("a", 3.0),)}
    expected = {"q1": (Hit("b", 2.0), Hit("a", 1.0)), "q2": (), "q3": (Hit("a", 3.0),)}
    assert run_of_rankings(run).rankings() == expected
    with pytest.raises(FormatError, match="'q': a document occurs more than once"):
        run_of_rankings({"q": (Hit("a", 1.0), Hit("a", 2.0))})


RISING, FALLING = ("0.1", "0.2", "0.3"), ("0.3", "0.2", "0.1")


@pytest.mark.parametrize(
    ("ranks", "scores", "remark"),
    [
        ("123", FALLING, None),
        ("321", RISING, None),  # the worst document first
        ("111", RISING, None),  # ranks that say nothing
        ("123", ("0.3", "0.3", "0.1"), None),
        ("123", RISING, "in 1 of 1 questions a document of a worse rank has a higher score"),
        ("012", ("9", "8", "8.5"), "if these are distances, negate them"),
        ("123", ("0", "0", "0"), "in 1 of 1 questions all documents have the same score"),
    ],
)
def test_scores_that_contradict_the_ranks_are_remarked_on(
    tmp_path: Path, ranks: str, scores: tuple[str, ...], remark: str | None
) -> None:
    lines = [f"q1 Q0 d{r}{s} {r} {s} tag" for r, s in zip(ranks, scores, strict=True)]
    remarks = read_table(written(tmp_path, *lines), None).remarks
    assert len(remarks) == (remark is not None)
    assert (remark or "") in "".join(remarks)


def test_unknown_questions_are_left_out_if_one_says_so(tmp_path: Path) -> None:
    lines = ["q1 Q0 a 1 2 t", "x Q0 a 1 2 t", "x Q0 a 1 2 t", "y Q0 b 1 2 t", "q1 Q0 b 2 1 t"]
    path = written(tmp_path, *lines)
    with pytest.raises(FormatError, match=r"line 2: question 'x' .*; .* --ignore-unknown` skips"):
        read_table(path, ["q1"])
    table = read_table(path, ["q1"], ignore_unknown=True)
    assert table.rankings() == {"q1": (Hit("a", 2.0), Hit("b", 1.0))}
    written(tmp_path, "q1 Q0 a 1 2 t\rq1 Q0 b 1 2 t", "x Q0 a 1 2 t")
    with pytest.raises(FormatError, match="line 1: a carriage return within the line"):
        read_table(path, ["q1"])


def test_ties_can_be_ordered_as_anserini_does(tmp_path: Path) -> None:
    lines = [f"q1 Q0 {doc_id} 1 {score} t" for doc_id, score in zip("badc", "2232", strict=True)]
    path = written(tmp_path, *lines)
    assert ids(read_table(path, None).rankings()["q1"]) == ["d", "c", "b", "a"]
    table = read_table(path, None, ascending_ids=True)
    assert ids(table.rankings()["q1"]) == ["d", "a", "b", "c"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q1 Q0 b 2 0.5", "5 columns, expected six"),
        ("q1 Q0 b c 2 0.5 tag", "7 columns, expected six"),
        ("q1 Q0 a 2 0.5 tag\rq1 Q0 c 3 0.4 tag", "a carriage return within the line"),
        ("", "0 columns, expected six"),
        ("q1  Q0 b 1 2.5", "5 columns, expected six"),
        ("q1\tQ0\tb\t\t0.5\ttag", "5 columns, expected six"),
        ("q1 Q0 b 2 nan tag", "the score 'nan' is not a finite number"),
        ("q1 Q0 b 2 -inf tag", "the score '-inf' is not a finite number"),
        ("q1 Q0 b 2 1e999 tag", "the score '1e999' is not a finite number"),
        ("q1 Q0 b 2 high tag", "the score 'high' is not a finite number"),
        ("q1 Q0 b 2 1_0 tag", "the score '1_0' is not a finite number"),
        ("q1 Q0 b 2 \uff11 tag", "the score '\uff11' is not a finite number"),
        ("q1 Q0 b\u3000c 2 0.5 tag", "doc_id .* holds whitespace"),
        ("q\u00a01 Q0 b 2 0.5 tag", "question_id .* holds whitespace"),
        ("q9 Q0 b 2 0.5 tag", "question 'q9' is not a question of this benchmark"),
        ("q1 Q0 b\u20281 2 0.5 tag", "doc_id .* holds whitespace"),  # a line ends at LF alone
        (b"q1 Q0 \xff 2 0.5 tag", ".*utf-8"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str | bytes, problem: str) -> None:
    path = written(tmp_path, "q1 Q0 a 1 1.0 tag")
    with path.open("ab") as file:
        file.write((line.encode() if isinstance(line, str) else line) + b"\n")
    with pytest.raises(FormatError, match=rf"run\.trec, line 2: {problem}"):
        read_run(path, ["q1"])


PART = st.sampled_from(["q1", "Q0", "d1", "1", "0.5", "t", "d 2", "", "é", "\x0b", "1e3", "\u2028"])
GAP = st.sampled_from([" ", " ", " ", "\t", "\t", "\t", "  ", " \t"])
END = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", " \n", "\n\n", ""])


@st.composite
def lines_of_a_run(draw: st.DrawFn) -> str:
    """Lines that are nearly valid: a few of their words, separators and ends are others."""
    lines = []
    for number in range(draw(st.integers(1, 4))):
        words = ["q1", "Q0", f"d{number}", str(number + 1), f"0.{9 - number}", "t"]
        gap = draw(GAP)
        for _ in range(draw(st.integers(0, 1))):
            words[draw(st.integers(0, 5))] = draw(PART)
        gaps = [gap if draw(st.integers(0, 9)) else draw(GAP) for _ in range(5)]
        text = "".join(word + after for word, after in zip(words, [*gaps, ""], strict=True))
        lines.append(text + draw(END))
    return "".join(lines)


@pytest.mark.slow
@settings(max_examples=500, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines_of_a_run())
@example("q1\tQ0\tpage 1\t1\t0.5\tt\n")
@example("q1  d1 1 0.5 t\n")
@example("q1\tQ0\td0\t1 \t0.9\tt\n")
@example("q1 Q0 d1 1 0.5 \n")
@example("q1 Q0 d1 1 0.5 t\rq1 Q0 d2 2 0.4 t\n")
def test_what_the_fast_reader_accepts_the_slow_one_reads_alike(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.trec"
    path.write_bytes(text.encode())
    fast = trec._parsed(path) if text else None
    if fast is not None:
        assert _columns_of(fast) == _columns_of(trec._walked(path))


def _columns_of(lines: trec._Lines) -> list[tuple[Any, ...]]:
    questions = [lines.question_ids[code] for code in lines.questions]
    documents = [lines.doc_ids[code] for code in lines.documents]
    columns = questions, documents, lines.ranks.tolist(), lines.scores.tolist()
    return list(zip(*columns, strict=True))


def test_where_a_line_has_tabs_tabs_separate(tmp_path: Path) -> None:
    path = written(tmp_path, "q1\tQ0\tpage 1\t1\t0.5\tt")
    with pytest.raises(FormatError, match=r"line 1: doc_id 'page 1' is empty or holds whitespace"):
        read_run(path, ["q1"])


@pytest.mark.parametrize("size", [1, 128])
def test_a_file_is_read_alike_in_blocks_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    lines = [f"q{n // 5} Q0 d{n} {n} {n}.5 tag{' more' * (n % 4 == 0)}" for n in range(20)]
    path = written(tmp_path, *lines)
    expected = read_table(path, None)
    monkeypatch.setattr(trec, "BLOCK", size)
    found = read_table(path, None)
    assert found.rankings() == expected.rankings()
    assert found.remarks == expected.remarks
    assert "in 4 of 4 questions" in found.remarks[0]
    written(tmp_path, *lines, "q1 Q0 d\u30001 2 0.5 tag")
    with pytest.raises(FormatError, match=r"line 21: doc_id .* holds whitespace"):
        read_table(path, None)


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
