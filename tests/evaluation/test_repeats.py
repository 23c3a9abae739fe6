"""Whose noise it is: the questions', the system's, or the judge's."""

from __future__ import annotations

import numpy as np
import pytest

from bears.evaluation.repeats import note, variance_parts


def drawn(rng: np.random.Generator, question: float, run: float, judge: float) -> np.ndarray:
    """Draw values of 60 questions with three runs, each judged twice."""
    return (
        rng.normal(0, question, (60, 1, 1))
        + rng.normal(0, run, (60, 3, 1))
        + rng.normal(0, judge, (60, 3, 2))
    )


@pytest.mark.parametrize(
    ("question", "run", "judge"), [(0.4, 0.3, 0.2), (0.1, 0.4, 0.1), (0.3, 0.1, 0.5)]
)
def test_each_part_is_near_the_truth(question: float, run: float, judge: float) -> None:
    rng = np.random.default_rng(7)
    found = [variance_parts(drawn(rng, question, run, judge)) for _ in range(400)]
    truth = {"questions": question**2 / 60, "runs": run**2 / 180, "judge": judge**2 / 360}
    whole = sum(truth.values())
    for name, true in truth.items():
        mean = np.mean([getattr(each, name) for each in found])
        # A part that hardly matters is known less well.
        assert abs(mean - true) < 0.2 * max(true, whole / 10), name


def test_intervals_from_the_parts_hold_the_true_mean() -> None:
    rng = np.random.default_rng(11)
    held = 0
    for _ in range(2000):
        values = drawn(rng, 0.4, 0.3, 0.2)
        half = 2.0 * variance_parts(values).total ** 0.5
        held += abs(values.mean()) < half
    assert 0.93 < held / 2000 < 0.97


def test_the_parts_of_a_small_table_are_those_computed_by_hand() -> None:
    # Means by question 0, 1; mean squares 2 * 0.5 = 1 of questions and (0 + 0.02) / 2 of runs.
    values = np.array([[0.0, 0.0], [0.9, 1.1]])[:, :, None]
    parts = variance_parts(values)
    assert parts.runs == pytest.approx(0.01 / 4)
    assert parts.questions == pytest.approx((1 - 0.01) / 2 / 2)
    assert parts.judge == 0
    assert "99% of the uncertainty of x is in the questions" in note(values[:, :, 0], "x")
    assert note(np.array([[1.0, 1.0], [1.0, 1.0]]), "x") == ""
