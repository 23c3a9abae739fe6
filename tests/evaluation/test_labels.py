"""Labels of some items and a judge's values of all: intervals and exchange rates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from bears.answers.judging.labels import read_labels
from bears.answers.judging.lexical import contains_gold
from bears.evaluation.clusters import Floats
from bears.evaluation.prediction_powered import estimate, exchange_interval, exchange_rate

Known = tuple[Floats, Floats, float, float]
"""People's labels and the judge's values of all items, and the ends of the scale."""


def floats(values: object) -> Floats:
    return np.asarray(values, np.float64)


def test_labels_in_the_judges_proportions_give_rogan_and_gladens_rate() -> None:
    # 600 of 1,000 pass; of 60 and 40 labelled ones people pass 54 and 8.
    judge = floats(np.repeat([1, 0], [600, 400]))
    labels = np.full(1000, np.nan)
    labels[:60], labels[600:640] = np.repeat([1, 0], [54, 6]), np.repeat([1, 0], [8, 32])
    tpr, tnr, passed = 54 / 62, 32 / 38, 0.6
    found = estimate(labels, judge)
    assert found
    assert found.value == pytest.approx((passed + tnr - 1) / (tpr + tnr - 1))
    assert found.low < 0.6 * 0.9 + 0.4 * 0.2 < found.high


def test_a_finite_set_with_all_labels_is_certain_and_equal_labels_are_not() -> None:
    labels = np.array([1.0, 0.0, 1.0, 1.0] * 5)
    found = estimate(labels, np.zeros(20))
    assert found
    assert (found.low, found.value, found.high) == pytest.approx((0.75, 0.75, 0.75))
    passed = np.where(np.arange(100) < 10, 1.0, np.nan)
    found = estimate(passed, floats(np.arange(100) % 2))
    assert found
    # Wilson's interval of 10 in 10 begins at 0.72, and these are a tenth of the set.
    assert (found.value, found.high) == (1, 1)
    assert 0.65 < found.low < 0.8
    assert estimate(np.array([1.0, np.nan]), np.zeros(2)) is None


def test_a_useless_judge_costs_nothing_and_a_perfect_one_is_worth_much() -> None:
    rng = np.random.default_rng(1)
    labels, noise = floats(rng.random(3000) < 0.7), floats(rng.random(3000).round(1))
    useless, perfect = exchange_rate(labels, noise), exchange_rate(labels, labels)
    assert useless == pytest.approx(1, abs=0.02)
    assert perfect
    assert perfect > 50


def evouna(shared_data: Path) -> dict[str, dict[str, tuple[float, float]]]:
    found: dict[str, dict[str, tuple[float, float]]] = defaultdict(dict)
    for row in read_labels(shared_data / "evouna" / "NQ.json"):
        passed = contains_gold(row.case.golds, row.case.answer, "en")
        found[row.system][row.case.question_id] = float(bool(row.label)), float(passed)
    return found


def differences(shared_data: Path) -> Iterator[tuple[str, Floats, Floats, list[int]]]:
    """Name, differences of labels and of verdicts, and strata, of each pair of EVOUNA's systems."""
    systems = {name: np.array([*own.values()]) for name, own in evouna(shared_data).items()}
    for (one, a), (other, b) in combinations(systems.items(), 2):
        cells = np.select([a[:, 1] < b[:, 1], a[:, 1] > b[:, 1], a[:, 1] > 0], [0, 3, 2], 1)
        labels, judge = (a - b).T
        yield f"{one} - {other}", labels, judge, cells.tolist()


def graded(shared_data: Path) -> dict[str, Known]:
    def values(path: Path) -> dict[tuple[str, str], float]:
        rows = (line.split() for line in path.read_text("utf-8").splitlines())
        return {(topic, doc_id): float(value) for topic, _, doc_id, value in rows}

    people = values(shared_data / "llmjudge" / "people.txt")
    found = {}
    for path in sorted((shared_data / "llmjudge" / "judges").glob("*.txt")):
        judge = values(path)
        both = [key for key in people if key in judge]
        labels, given = (np.array([each[key] for key in both]) for each in (people, judge))
        found[path.stem] = labels, given, 0.0, 3.0
    return found


@pytest.mark.slow
@pytest.mark.parametrize("size", [50, 100, 300])
def test_intervals_hold_for_answers_pairs_and_graded_judges(shared_data: Path, size: int) -> None:
    known: dict[str, Known] = {
        name: (*np.array([*own.values()]).T, 0.0, 1.0) for name, own in evouna(shared_data).items()
    }
    known |= {name: (d, judge, -1.0, 1.0) for name, d, judge, _ in differences(shared_data)}
    known |= graded(shared_data)
    assert len(known) == 5 + 10 + 11
    rng, draws = np.random.default_rng(size), 400
    for name, (labels, judge, worst, best) in known.items():
        held, rates = 0, []
        for _ in range(draws):
            seen = np.full(len(labels), np.nan)
            chosen = rng.choice(len(labels), size, replace=False)
            seen[chosen] = labels[chosen]
            found = estimate(seen, judge, worst, best)
            held += found is not None and found.low <= labels.mean() <= found.high
            if size == 300:
                rates.append(exchange_rate(seen, judge) or 1)
        # 93 to 97 %, and two standard errors of 1,000 draws; 400 have to meet the same bounds.
        assert 0.916 <= held / draws <= 0.984, (name, held)
        if size == 300:
            assert np.mean(rates) == pytest.approx(exchange_rate(labels, judge), abs=0.1), name


@pytest.mark.slow
@pytest.mark.parametrize("size", [50, 100])
def test_the_interval_of_an_exchange_rate_holds(shared_data: Path, size: int) -> None:
    rng, draws, all_held = np.random.default_rng(size), 20, 0
    for name, own in evouna(shared_data).items():
        labels, judge = np.array([*own.values()]).T
        truth, held = exchange_rate(labels, judge), 0
        assert truth
        for _ in range(draws):
            seen = np.full(len(labels), np.nan)
            chosen = rng.choice(len(labels), size, replace=False)
            seen[chosen] = labels[chosen]
            found = exchange_interval(seen, judge)
            held += found is not None and found[0] <= truth <= found[1]
        all_held += held
        # 95 %, less three standard errors of 40 draws; 20 have to meet the same bound.
        assert held / draws >= 0.84, name
    assert all_held / (5 * draws) >= 0.9


@pytest.mark.slow
def test_exchange_rates_are_those_of_others(shared_data: Path) -> None:
    rates = [exchange_rate(labels, judge) for _, labels, judge, _ in differences(shared_data)]
    assert 1.5 < np.median(np.array(rates, float)) < 2.0
    # Others measured ×1.01 to ×1.21 for the judge with the highest kappa, by threshold.
    labels, judge, *_ = graded(shared_data)["willia-umbrela1"]
    found = [exchange_rate(floats(labels >= grade), floats(judge >= grade)) for grade in (1, 2, 3)]
    assert all(rate is not None and 1.0 <= rate < 1.25 for rate in found), found
