"""Exact match, against the examples of SQuAD's official program."""

import pytest

from bears.evaluation.answers.measures import exact_match
from bears.language.normalization import normalization_of


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("The Eiffel  Tower!", "eiffel tower", 1.0),
        ("an apple", "Apple.", 1.0),
        ("", "", 1.0),
        ("apples", "apple", 0.0),
        ("the", "", 1.0),
        ("Eiffel Tower in Paris", "Eiffel Tower", 0.0),
    ],
)
def test_articles_punctuation_and_case_do_not_count(
    answer: str, reference: str, expected: float
) -> None:
    assert exact_match(answer, reference, normalization_of("en")) == expected
