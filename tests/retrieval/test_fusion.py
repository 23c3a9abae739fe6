"""Fusion by reciprocal ranks: against the paper's formula, written out."""

from __future__ import annotations

import pytest

from bears.retrieval.combined.fusion import reciprocal_ranks
from bears.types import Hit, Ranking


def ranking(*doc_ids: str) -> Ranking:
    return tuple(Hit(doc_id, 1.0 - place / 10) for place, doc_id in enumerate(doc_ids))


def test_a_document_scores_the_sum_of_one_over_sixty_plus_its_rank_from_one() -> None:
    fused = reciprocal_ranks([ranking("a", "b", "c"), ranking("c", "a")], 10, 60)
    assert [hit.doc_id for hit in fused] == ["a", "c", "b"]
    assert [hit.score for hit in fused] == pytest.approx(
        [1 / 61 + 1 / 62, 1 / 63 + 1 / 61, 1 / 62], rel=1e-6
    )


def test_documents_that_swap_their_ranks_tie_and_the_greater_id_comes_first() -> None:
    fused = reciprocal_ranks([ranking("a", "b"), ranking("b", "a")], 10, 60)
    assert [hit.doc_id for hit in fused] == ["b", "a"]
    assert len({hit.score for hit in fused}) == 1


def test_the_scores_of_the_legs_do_not_count() -> None:
    near = (Hit("a", 0.9), Hit("b", 0.89))
    far = (Hit("a", 40.0), Hit("b", -7.0))
    assert reciprocal_ranks([near], 2, 60) == reciprocal_ranks([far], 2, 60)


def test_a_smaller_constant_lets_one_first_place_weigh_more_than_two_fifth_ones() -> None:
    legs = [ranking("x", "1", "2", "3", "both"), ranking("4", "5", "6", "7", "both")]
    assert reciprocal_ranks(legs, 1, 60)[0].doc_id == "both"
    assert reciprocal_ranks(legs, 1, 1)[0].doc_id == "x"


def test_what_only_one_leg_finds_is_found_and_no_more_than_asked_for_is_given() -> None:
    assert [hit.doc_id for hit in reciprocal_ranks([ranking("a", "b"), ()], 1, 60)] == ["a"]
    assert reciprocal_ranks([(), ()], 5, 60) == ()
