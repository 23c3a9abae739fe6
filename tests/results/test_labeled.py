"""People's labels lead, in `compare` and in the gate, with the values that `labels decide` has."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bears.answers.judging.labelable import verdict_pair
from bears.config.ledger.entries import LabelDraw
from bears.evaluation.comparison.result import (
    ALLOWED,
    CANNOT_TELL,
    NO_LOSS,
    UNDECIDED,
    WORSE,
    judged,
)
from bears.evaluation.labeling import drawn
from bears.publishing.report.advice import advise, headline, rows
from bears.publishing.report.doubts import constant_judges
from bears.results import labeled
from bears.results.labeled import estimate_of, gated
from bears.results.parts import parts_of
from bears.results.system import System

IDS = [f"q{n:03}" for n in range(120)]


def system(name: str, verdicts: list[bool]) -> System:
    said = ["pass" if each else "fail" for each in verdicts]
    kept = {
        key: {
            **{"question_id": key, "question": key, "gold_answers": "g", "items": "[]"},
            **{"answer": f"{name} {key}", "verdict": verdict},
        }
        for key, verdict in zip(IDS, said, strict=True)
    }
    values = pd.DataFrame({"pass_rate": [float(each) for each in verdicts]}, index=IDS)
    made = System(name, "", values, benchmark={"name": "mini", "state": "one"})
    made.__dict__["judged"] = kept
    return made


def pair(seed: int = 1) -> list[System]:
    rng = np.random.default_rng(seed)
    return [system(name, list(rng.random(len(IDS)) < 0.5)) for name in ("a", "b")]


def labels(systems: list[System], count: int, right: tuple[float, float]) -> list[LabelDraw]:
    """People pass the answers of each system this often, whatever the judge says."""
    both, rng = verdict_pair(*(each.judged for each in systems)), Random(6)
    found = drawn(both.items, [], [], count, rng)
    return [
        LabelDraw(
            *(both.key, number, both.names[each.item][0], each.weight, each.largest),
            labels={"me": tuple(int(rng.random() < share) for share in right)},
        )
        for number, each in enumerate(found, start=1)
    ]


def test_labels_lead_where_the_judge_says_the_opposite(monkeypatch: pytest.MonkeyPatch) -> None:
    systems = [
        system("a", [n % 4 > 0 for n in range(120)]),
        system("b", [n % 4 == 1 for n in range(120)]),
    ]
    own = labels(systems, 80, (0.1, 0.9))
    monkeypatch.setattr(labeled, "labels_of", lambda _: own)
    (part,) = parts_of(systems, "ndcg@10")
    found = part.compared()
    (row,) = found["pairs"]
    assert row["judge"]["verdict"] == "a better"
    assert row["verdict"] == "b better"
    assert row["labels"] == 80
    # What `labels decide` prints for such questions.
    both = verdict_pair(*(each.judged for each in systems))
    such = both.estimates(own)["such"]
    assert [row["difference"], row["low"], row["high"]] == [
        such["value"],
        such["low"],
        such["high"],
    ]
    advice = advise(found, systems, "pass_rate", "quality")
    assert (advice["take"], advice["labels"]) == ("b", 80)
    assert advice["difference"] == pytest.approx(-such["value"])
    assert headline(advice, part.called("pass_rate", 80), "quality")[0][0] == "advice_take"
    # The ledger has the pair in the order in which it was labeled.
    (part,) = parts_of(systems[::-1], "ndcg@10")
    (turned,) = part.compared()["pairs"]
    assert (turned["a"], turned["low"], turned["high"]) == ("b", -row["high"], -row["low"])
    assert turned["verdict"] == "b better"


@pytest.mark.parametrize(
    ("right", "allow", "verdict"),
    [
        ((0.05, 0.95), None, WORSE),
        ((0.95, 0.05), None, NO_LOSS),
        ((0.45, 0.55), None, CANNOT_TELL),
        ((0.5, 0.5), 0.9, ALLOWED),
        ((0.5, 0.5), 0.001, UNDECIDED),
        ((0.05, 0.95), 0.01, WORSE),
    ],
)
def test_the_gate_goes_by_labels(
    right: tuple[float, float], allow: float | None, verdict: str
) -> None:
    candidate, base = systems = pair()
    own = labels(systems, 60, right)
    (row,) = judged([candidate, base], ["pass_rate"], allow)["pairs"]
    found = gated(row, systems, own, allow)
    assert found["verdict"] == verdict
    whole = estimate_of("pass_rate", systems, own)
    assert whole
    # One side at 95 % is the end of an interval of 90 %.
    assert whole["low"] < found["low"] < found["difference"] < found["high"] < whole["high"]
    assert found["judge"]["difference"] == row["difference"]
    assert gated(row, systems, [], allow) == row


def test_too_few_labels_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    systems = pair()
    own = labels(systems, 19, (0.5, 0.5))
    monkeypatch.setattr(labeled, "labels_of", lambda _: own)
    (part,) = parts_of(systems, "ndcg@10")
    (row,) = part.compared()["pairs"]
    assert "labels" not in row


@pytest.mark.parametrize(("value", "said"), [(True, "pass"), (False, "fail")])
def test_a_judge_with_one_verdict_is_a_doubt(value: bool, said: str) -> None:
    systems = [system(name, [value] * 120) for name in "ab"]
    ((key, about),) = constant_judges(systems)
    assert (key, about["given"], about["n"]) == ("doubt_constant_verdict", said, 240)
    assert constant_judges([systems[0], *pair()[:1]]) == []


@pytest.mark.parametrize(("value", "key"), [(1.0, "easy"), (0.0, "hard")])
def test_questions_that_are_too_easy_or_too_hard_are_named_with_what_helps(
    value: float, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    records: dict[str, Any] = {"name": "mine", "state": "one"}
    frame = pd.DataFrame({"ndcg@10": [value] * 14}, index=IDS[:14])
    systems = [System(name, "", frame, benchmark=records) for name in ("bm25", "wordllama")]
    (part,) = parts_of(systems, "ndcg@10")
    advice = advise(part.compared(), systems, "ndcg@10", "quality")
    said = dict(rows(advice, systems, "ndcg@10"))["advice_more"]
    assert said[0] == f"advice_more_{key}"
    assert said[1]["where"] == "conf/benchmark/mine.yaml"
    assert said[1]["judge"] == "bears judgements pool to_judge.csv --benchmark mine"
