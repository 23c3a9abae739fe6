"""Questions that a model writes: what is thrown away, what is kept, and that it says so."""

from __future__ import annotations

from tests.fake_questioner import KINDS
from tests.questioning import (
    Making,
    making,
    outcomes,
    published,
    sampled,
    stones,
)

__all__ = ["making"]


def test_each_mistake_of_a_writer_is_thrown_away_for_its_own_reason(making: Making) -> None:
    at, _ = making("messy", stones(KINDS))
    published(at)
    sampled(at)
    assert {int(key[1:]): why for key, why in outcomes(at).items()} == {
        0: "",
        1: "answer_not_in_passage",
        2: "names_passage",
        3: "leaks_answer",
        4: "copies_passage",
        5: "leans",
        6: "nothing_written",
        7: "closed_book",
        8: "unanswerable",
        9: "nothing_written",
        10: "",
        11: "",
    }
