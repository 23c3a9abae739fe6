"""Measures on literal rankings: the grades of a ranking, and of all relevant documents."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from bears.errors import ConfigurationError
from bears.evaluation.answers.confidence import calibration_errors
from bears.evaluation.clusters import share_interval, wilson
from bears.evaluation.evaluate import METRICS, Measure, parse_measure
from bears.evaluation.measures.kor_map_official import official_score
from bears.evaluation.measures.precision import precision
from bears.evaluation.metric import Metric, judged_rankings
from tests.measuring import correct_retrievals, value

OF_DOCUMENTS = [each for each in METRICS if each.reads != "spans"]
EVERY = [f"{each.name}@{k}" for each in OF_DOCUMENTS if each.cutoff for k in (1, 10)]
EVERY += [each.name for each in OF_DOCUMENTS if each.whole]
NOTHING_IS_RIGHT = [
    *("success@1", "success@10", "strict@1", "strict@10"),
    *("retrieval_accuracy@1", "retrieval_accuracy@10", "kor_map_official", "kor_map_strict"),
]
"""The measures that are defined where nothing is relevant."""


@pytest.mark.parametrize(
    "name",
    [
        *("success@1", "success@10", "strict@1", "strict@10", "recall@1", "recall@10", "mrr@10"),
        *("precision@1", "r_precision", "ndcg@1", "ndcg@10", "ndcg", "map@10", "map", "mrr"),
        *("kor_map_official", "kor_map_strict", "retrieval_accuracy@1", "retrieval_accuracy@10"),
    ],
)
def test_the_one_gold_document_on_top_scores_one(name: str) -> None:
    best = 100 if name.startswith("retrieval_accuracy") else 1
    assert value(name, [1, 0, 0], [1]) == parse_measure(name).metric.best == best


@pytest.mark.parametrize("name", EVERY)
def test_the_one_gold_document_on_top_scores_more_than_below_and_no_more_than_the_best(
    name: str,
) -> None:
    top, below = value(name, [1, 0, 0], [1]), value(name, [0, 0, 1], [1])
    assert top is not None
    assert below is not None
    assert 0 < top <= parse_measure(name).metric.best
    assert below <= top


@pytest.mark.parametrize("name", EVERY)
def test_an_empty_ranking_scores_zero(name: str) -> None:
    assert value(name, [], [1]) == 0


@pytest.mark.parametrize("name", sorted(set(EVERY) - set(NOTHING_IS_RIGHT)))
@pytest.mark.parametrize("grades", [[], [0, 0]])
def test_without_gold_most_measures_are_undefined(name: str, grades: list[int]) -> None:
    assert value(name, grades, []) is None


@pytest.mark.parametrize("name", NOTHING_IS_RIGHT)
def test_without_gold_the_right_answer_is_nothing(name: str) -> None:
    assert value(name, [], []) == parse_measure(name).metric.best
    assert value(name, [0], []) == 0


def test_without_a_cutoff_precision_divides_by_what_was_returned() -> None:
    values = precision(judged_rankings([[1, 0, 0], []], [[1], [1]]), None)
    assert values.tolist() == [1 / 3, 0]


@pytest.mark.parametrize(
    ("grades", "judged", "official", "strict"),
    [
        ([1, 0, 0], [1, 1], 1, 1 / 2),  # one document to a question of two
        ([0, 0, 1], [1], 1 / 3, 1 / 3),
        ([1, 0, 1], [1, 1], (1 + 2 / 3) / 2, (1 + 2 / 3) / 2),
        ([0, 1, 1], [1, 1, 1, 1], (1 / 2 + 2 / 3) / 2, (1 / 2 + 2 / 3) / 3),
        ([1, 1, 1], [1, 1, 1, 1], 1, 1),
        ([0, 0, 0, 1], [1], 0, 0),  # only the top three count
    ],
)
def test_the_official_map_divides_by_the_hits_and_the_strict_one_does_not(
    grades: list[int], judged: list[int], official: float, strict: float
) -> None:
    assert value("kor_map_official", grades, judged) == official
    assert value("kor_map_strict", grades, judged) == pytest.approx(strict, abs=1e-15)


GOLD = {"1": ["a"], "2": ["b", "c"], "3": []}


@pytest.mark.parametrize(
    ("predictions", "expected"),
    [
        ([("1", ["a"]), ("2", ["c", "x", "b"]), ("3", [])], (1 + (1 + 2 / 3) / 2 + 1) / 3),
        ([("3", ["a"])], 0),
        ([("1", ["x", "a"])], 1 / 2),  # who leaves out the others loses nothing
        ([("1", ["a"]), ("1", ["a"]), ("2", [])], (1 + 1 + 0) / 3),  # a repeated row counts twice
        ([("2", ["x", "b", "b"])], (1 / 2 + 2 / 3) / 2),  # and so does a repeated document
        ([("2", ["x", "x", "x", "b"])], 0),
    ],
)
def test_the_official_score_has_the_holes_of_the_official_program(
    predictions: list[tuple[str, list[str]]], expected: float
) -> None:
    assert official_score(predictions, GOLD) == expected


def test_a_gold_given_as_a_text_matches_its_parts() -> None:
    gold = {"1": "doc-17"}
    assert official_score([("1", ["doc-1", "x", "doc-17"])], gold) == (1 + 2 / 3) / 2
    assert official_score([("1", [])], {"1": ""}) == 1


def test_the_official_score_adds_up_in_the_order_of_the_rows() -> None:
    predictions = [(str(n), ["x"] * (n % 3) + ["a"]) for n in range(1, 500)]
    gold = {str(n): ["a"] for n in range(1, 500)}
    total = 0.0
    for n in range(1, 500):
        total += 1 / (n % 3 + 1)
    assert official_score(predictions, gold) == total / 499


def test_each_entry_of_a_source_list_takes_a_place() -> None:
    sources = [["x", "a"], ["x", "x", "a"], ["a"], [], ["x", "y"]]
    gold = [["a"]] * 5
    assert [correct_retrievals(sources, gold, k) for k in (1, 2, 3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("file", "top_1", "top_2"),
    [
        ("pandachat-rag-si_bge-m3_embedding", 205, 206),
        ("pandachat-rag-si_multilingual-e5-base_embedding", 204, 205),
        ("pandachat-rag-si_text-embedding-3-small_embedding", 199, 205),
        ("qdrant-client", 199, 199),
    ],
)
def test_the_published_counts_of_pandachat(
    shared_data: Path, file: str, top_1: int, top_2: int
) -> None:
    folder = shared_data / "pandachat"
    dataset = json.loads((folder / "pandachat-rag-si-dataset.json").read_bytes())
    path = folder / "submissions" / f"submission_{file}_evaluation.json"
    sources = {row["query"]: row["sources"] for row in json.loads(path.read_bytes())["df"]}
    submitted = [sources.get(row["query"], []) for row in dataset]
    gold = [[row["document"]] for row in dataset]
    counts = [correct_retrievals(submitted, gold, k) for k in (1, 2)]
    assert (len(dataset), counts) == (206, [top_1, top_2])


def test_the_published_wilson_interval() -> None:
    low, high = wilson(48, 60)
    assert (f"{low:.0%}", f"{high:.0%}") == ("68%", "88%")


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (1, 1), (0, 18), (18, 18), (7, 18), (999, 1000)])
def test_the_interval_is_that_of_scipy(hits: int, n: int) -> None:
    theirs = stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert wilson(hits, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert 0 <= wilson(hits, n)[0] < wilson(hits, n)[1] <= 1


def test_the_interval_of_a_mean_is_wilsons_and_never_narrower_than_students() -> None:
    assert share_interval(np.repeat([1.0, 0.0], [48, 12])) == wilson(48, 60)
    values = [0.2, 0.4, 0.5, 0.5, 0.9] * 12
    low, high = share_interval(np.array(values, float))
    theirs = stats.t.interval(0.95, 59, loc=0.5, scale=stats.sem(values))
    assert low < theirs[0] < theirs[1] < high


def test_a_measure_knows_the_name_it_was_asked_by() -> None:
    assert [parse_measure(name).name for name in EVERY] == EVERY
    assert parse_measure("ndcg@10").k == 10
    assert parse_measure("ndcg").k is None


def test_a_new_measure_may_have_a_digit_in_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    f1 = Metric("f1", precision)
    monkeypatch.setattr("bears.evaluation.evaluate.METRICS", (f1,))
    assert parse_measure("f1@10") == Measure("f1@10", f1, 10)


@pytest.mark.parametrize(
    "name",
    [
        *("hit@5", "Ndcg@10", "ndcg_cut_10", "", "@10", "recall", "success", "strict"),
        *("precision", "r_precision@5", "kor_map_official@3", "retrieval_accuracy"),
        *("ndcg@0", "ndcg@010", "ndcg@-1", "ndcg@1.5", "ndcg@"),
        *("ndcg@10 ", "ndcg@10\n", "ndcg@\uff11", "ndcg@ten"),
    ],
)
def test_an_unknown_name_is_answered_with_the_right_ones(name: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_measure(name)
    assert repr(name) in str(caught.value)
    assert "success@k, strict@k, recall@k" in str(caught.value)
    assert "r_precision" in str(caught.value)


def test_correct_retrievals_count_questions_and_repeats() -> None:
    sources = [("a", "a", "b"), (), ("c", "b")]
    gold = [("b",), ("b",), ("b", "c")]
    assert [correct_retrievals(sources, gold, k) for k in (1, 2, 3)] == [1, 1, 2]


def test_calibration_errors_of_three_bins_worked_by_hand() -> None:
    """Gaps of .3, .2 and .1; BrowseComp-Plus' program leaves out the last bin."""
    shares = {0.1: 40, 0.5: 30, 0.9: 80}
    stated = [confidence for confidence in shares for _ in range(100)]
    right = [float(n < hits) for hits in shares.values() for n in range(100)]
    found = calibration_errors(stated, right)
    assert found["calibration_error"] == pytest.approx(((0.09 + 0.04 + 0.01) / 3) ** 0.5)
    assert found["browsecomp_calibration_error"] == pytest.approx(((0.09 + 0.04) / 3) ** 0.5)
    assert calibration_errors([None, None], [1.0, 0.0]) == {}
