"""Each measure on literal rankings, with the fraction that the definition gives.

``grades`` is the ranking, best first; ``judged`` holds the grades of all relevant documents.
"""

from __future__ import annotations

from math import log2

import pytest

from bears.errors import ConfigurationError
from bears.evaluation.measure import WHOLE_RANKING, WITH_CUTOFF, parse

EVERY = [f"{word}@{k}" for word in WITH_CUTOFF for k in (1, 10)] + list(WHOLE_RANKING)

# Relevant documents at ranks 2 and 4; a third one was not found.
FOUND_TWO_OF_THREE = ([0, 1, 0, 1, 0], [1, 1, 1])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("success@1", 0),
        ("success@2", 1),
        ("recall@1", 0),
        ("recall@2", 1 / 3),
        ("recall@4", 2 / 3),
        ("recall@10", 2 / 3),
        ("strict@10", 0),
        ("precision@2", 1 / 2),
        ("precision@4", 2 / 4),
        ("precision@10", 2 / 10),  # a ranking of five is still divided by ten
        ("r_precision", 1 / 3),  # one among the first three
        ("mrr@1", 0),
        ("mrr@2", 1 / 2),
        ("mrr", 1 / 2),
        ("map@1", 0),
        ("map@2", (1 / 2) / 3),
        ("map@4", (1 / 2 + 2 / 4) / 3),  # all relevant documents divide, found or not
        ("map", (1 / 2 + 2 / 4) / 3),
        ("ndcg@1", 0),
        ("ndcg@2", (1 / log2(3)) / (1 + 1 / log2(3))),
        ("ndcg@10", (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3) + 1 / log2(4))),
        ("ndcg", (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3) + 1 / log2(4))),
    ],
)
def test_two_of_three_found(name: str, expected: float) -> None:
    assert parse(name).value(*FOUND_TWO_OF_THREE) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ndcg@1", 1 / 3),
        ("ndcg@2", (1 + 3 / log2(3)) / (3 + 2 / log2(3))),  # the gain is 3, not 2^3 - 1
        ("ndcg", (1 + 3 / log2(3)) / (3 + 2 / log2(3) + 1 / log2(4))),  # 2 was never found
        ("recall@2", 2 / 3),
        ("map", (1 / 1 + 2 / 2) / 3),
        ("mrr", 1),
        ("r_precision", 2 / 3),
    ],
)
def test_only_ndcg_looks_at_the_height_of_a_grade(name: str, expected: float) -> None:
    assert parse(name).value([1, 3, 0], [1, 2, 3]) == pytest.approx(expected, abs=1e-15)


def test_ndcg_sorts_the_judgements_itself() -> None:
    measure = parse("ndcg@2")
    assert measure.value([3, 2], [1, 2, 3]) == measure.value([3, 2], [3, 1, 2]) == 1


def test_strict_wants_all_gold_documents() -> None:
    assert parse("strict@3").value([1, 0, 1], [1, 1]) == 1
    assert parse("strict@2").value([1, 0, 1], [1, 1]) == 0


def test_more_gold_than_k_caps_some_measures_below_one() -> None:
    perfect, judged = [1, 1, 1], [1, 1, 1]
    assert parse("strict@2").value(perfect, judged) == 0
    assert parse("recall@2").value(perfect, judged) == 2 / 3
    assert parse("map@2").value(perfect, judged) == 2 / 3
    assert parse("ndcg@2").value(perfect, judged) == 1
    assert parse("precision@2").value(perfect, judged) == 1
    assert parse("strict@3").value(perfect, judged) == 1


@pytest.mark.parametrize("name", [name for name in EVERY if name != "precision@10"])
def test_the_one_gold_document_on_top_scores_one(name: str) -> None:
    assert parse(name).value([1, 0, 0], [1]) == 1


@pytest.mark.parametrize("name", EVERY)
def test_an_empty_ranking_scores_zero(name: str) -> None:
    assert parse(name).value([], [1]) == 0


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("grades", [[], [0, 0]])
def test_without_gold_every_measure_is_undefined(name: str, grades: list[int]) -> None:
    assert parse(name).value(grades, []) is None


def test_without_a_cutoff_precision_divides_by_what_was_returned() -> None:
    assert WITH_CUTOFF["precision"]([1, 0, 0], [1], None) == 1 / 3
    assert WITH_CUTOFF["precision"]([], [1], None) == 0


def test_a_measure_knows_the_name_it_was_asked_by() -> None:
    assert [parse(name).name for name in EVERY] == EVERY
    assert parse("ndcg@10").k == 10
    assert parse("ndcg").k is None


@pytest.mark.parametrize(
    "name",
    [
        *("hit@5", "NDCG@10", "ndcg_cut_10", "", "@10", "recall", "success", "strict"),
        *("precision", "r_precision@5", "ndcg@0", "ndcg@010", "ndcg@-1", "ndcg@1.5", "ndcg@"),
        *("ndcg@10 ", "ndcg@10\n", "ndcg@\uff11", "ndcg@ten"),
    ],
)
def test_an_unknown_name_is_answered_with_the_right_ones(name: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse(name)
    assert repr(name) in str(caught.value)
    assert "success@k, strict@k, recall@k" in str(caught.value)
    assert "r_precision" in str(caught.value)
