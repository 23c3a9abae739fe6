"""What decides between systems, and which systems each table has."""

from collections.abc import Mapping, Sequence

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from bears.results.parts import JUDGED, parts_of
from bears.results.system import System

IDS = [f"q{n}" for n in range(4)]
RANKING, ANSWERS = ("ndcg@10", "recall@5"), ("pass_rate", "answer_f1")


def system(name: str, run: str, *measures: str, judge: str = "") -> System:
    retrieval = name.partition(" → ")[0]
    values = pd.DataFrame({measure: [0.0, 1, 1, 0] for measure in measures}, index=IDS)
    return System(name, name, values, same_run=run, retrieval=retrieval, judge=judge)


FOUR = [
    system("bm25", "x", *RANKING),
    system("bm25 → sentence", "x", *RANKING, *ANSWERS, judge="contains"),
    system("wordllama", "y", *RANKING),
    system("wordllama → sentence", "y", *RANKING, *ANSWERS, judge="contains"),
]


def described(
    systems: Sequence[System], *chosen: str
) -> list[tuple[str, list[str], tuple[str, ...]]]:
    return [
        (part.main, [each.name for each in part.systems], tuple(part.measures))
        for part in parts_of(systems, "ndcg@10", chosen)
    ]


def test_judged_answers_decide_and_each_ranking_is_compared_once_below() -> None:
    assert described(FOUR) == [
        ("pass_rate", ["bm25 → sentence", "wordllama → sentence"], ANSWERS),
        ("ndcg@10", ["bm25", "wordllama"], RANKING),
    ]
    answers, rankings = parts_of(FOUR, "ndcg@10")
    assert answers.called("pass_rate") == "pass_rate (contains)"
    assert (answers.called("answer_f1"), rankings.called("ndcg@10")) == ("answer_f1", "ndcg@10")
    # A row says where else its ranking was found.
    assert [each.what for each in rankings.systems] == [
        "bm25, bm25 → sentence",
        "wordllama, wordllama → sentence",
    ]


def test_a_measure_that_is_named_decides_among_the_systems_that_have_it() -> None:
    assert described(FOUR, "recall@5") == [
        ("ndcg@10", [each.name for each in FOUR], ("recall@5",)),
    ]
    assert described(FOUR, "pass_rate")[0][1] == ["bm25 → sentence", "wordllama → sentence"]


def test_one_ranking_is_not_compared_with_itself_where_answers_are() -> None:
    names = ("a → one", "a → two")
    judged = [system(name, "x", *RANKING, *ANSWERS, judge="contains") for name in names]
    assert [main for main, *_ in described(judged)] == ["pass_rate"]
    # Unjudged answers decide where nothing else differs.
    unjudged = [system(name, "x", *RANKING, "answer_f1") for name in names]
    assert [main for main, *_ in described(unjudged)] == ["answer_f1"]
    apart = [system(name, name, *RANKING, "answer_f1") for name in names]
    assert [main for main, *_ in described(apart)] == ["ndcg@10", "answer_f1"]
    # Without answers, the same ranking under two names is still compared.
    same = [system(name, "x", *RANKING) for name in ("a", "b")]
    assert described(same) == [("ndcg@10", ["a", "b"], RANKING)]


def test_verdicts_of_different_judges_are_a_warning() -> None:
    judges = {"a": "contains", "b": "exact", "c": ""}
    systems = [system(name, name, *ANSWERS, judge=judge) for name, judge in judges.items()]
    (part,) = parts_of(systems, "ndcg@10")
    assert part.called("pass_rate") == "pass_rate"
    (said,) = part.warnings()
    assert "a by contains, b by exact, c by one unknown" in said
    assert not parts_of(FOUR, "ndcg@10")[0].warnings()


MEASURES = st.lists(
    st.sampled_from([*RANKING, *ANSWERS, "nugget_all", "graded_precision@10", "searches", "usd"]),
    min_size=1,
    unique=True,
)


@given(st.lists(st.tuples(st.sampled_from("xyz"), MEASURES), min_size=2, max_size=5))
def test_every_system_of_a_table_has_all_of_its_measures(
    drawn: list[tuple[str, list[str]]],
) -> None:
    systems = [system(f"s{n}", run, *names) for n, (run, names) in enumerate(drawn)]
    own: Mapping[str, set[str]] = {each.name: {*map(str, each.values)} for each in systems}
    parts = parts_of(systems, "ndcg@10")
    judged = [n for n in JUDGED if sum(n in measures for measures in own.values()) > 1]
    if judged:
        assert parts[0].main == judged[0]
    if [part.measures for part in parts] == [()]:
        return
    for part in parts:
        assert len(part.systems) > 1
        assert part.main in part.measures
        for each in part.systems:
            assert {*part.measures} <= {*map(str, each.values)}
    measured = [{*part.measures} for part in parts]
    assert len(parts) < 2 or not measured[0] & measured[1]


def test_systems_without_a_measure_in_common_are_left_to_the_comparison_to_refuse() -> None:
    systems = [system("a", "x", "ndcg@10"), system("b", "y", "usd")]
    assert described(systems) == [("ndcg@10", ["a", "b"], ())]
