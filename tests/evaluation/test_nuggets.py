"""Nuggets and citations: TREC's measures, people's labels, and what words alone can say."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from bears.answers.judging.labelable import answer_pair
from bears.answers.judging.lexical import CitationWords, NuggetWords
from bears.answers.judging.ruling import SCALES, Item
from bears.cli import main
from bears.evaluation.answers.nuggets import citation_scores, nugget_scores
from bears.evaluation.labeling import estimated
from bears.files.records import write_lines
from tests.evaluation.test_labeling import first_look, labelled

CREDIT = {"support": Fraction(1), "partial_support": Fraction(1, 2), "not_support": Fraction(0)}
Rows = list[dict[str, Any]]


@cache
def rows(path: Path) -> Rows:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def score(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, float]]:
    capsys.readouterr()
    assert main(["nuggets", "score", str(path), "--format", "json"]) == 0
    found: dict[str, dict[str, float]] = json.loads(capsys.readouterr().out)
    return found


def expected(row: Mapping[str, Any], strict: bool) -> dict[str, Fraction | None]:
    """The three measures of METRICS.md, in fractions and without our code."""
    credits = {"vital": list[Fraction](), "okay": list[Fraction]()}
    for nugget in row["nuggets"]:
        credit = CREDIT[nugget["assignment"]]
        credits[nugget["importance"]].append(Fraction(int(credit)) if strict else credit)
    vital, okay = credits["vital"], credits["okay"]
    ending = "_strict" if strict else ""
    half = Fraction(1, 2)
    return {
        f"nugget_all{ending}": sum([*vital, *okay], Fraction(0)) / len(row["nuggets"]),
        f"nugget_vital{ending}": sum(vital, Fraction(0)) / len(vital) if vital else None,
        f"nugget_weighted{ending}": (sum(vital, Fraction(0)) + half * sum(okay, Fraction(0)))
        / (len(vital) + half * len(okay)),
    }


def test_trecs_nugget_scores_are_those_of_an_independent_program(
    shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = shared_data / "nuggets" / "assignments.jsonl"
    found = score(path, capsys)
    sums: defaultdict[str, defaultdict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for row in rows(path):
        for strict in (False, True):
            for name, value in expected(row, strict).items():
                assert value is not None
                sums[row["run_id"]][name] += value
    topics = len({row["qid"] for row in rows(path)})
    assert topics == 11
    assert found.keys() == sums.keys()
    for run, own in sums.items():
        # A topic that a run did not answer counts 0: one of the runs answered only two.
        wanted = {name: float(total / topics) for name, total in own.items()}
        assert {name: found[run][name] for name in wanted} == pytest.approx(wanted, abs=1e-12)
    assert min(own["topics"] for own in found.values()) == 2


def test_trecs_citation_scores_are_those_of_an_independent_program(
    shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = shared_data / "nuggets" / "citations.jsonl"
    found = score(path, capsys)
    of: defaultdict[str, list[tuple[Fraction, Fraction]]] = defaultdict(list)
    for row in rows(path):
        first = [each["citations"][:1] for each in row["sentences"]]
        given = [Fraction(int(own[0]["support"]), 2) for own in first if own]
        total = sum(given, Fraction(0))
        of[row["run_id"]].append((total / len(given), total / len(first)))
    assert found.keys() == of.keys()
    for run, values in of.items():
        precision = sum((value for value, _ in values), Fraction(0)) / len(values)
        recall = sum((value for _, value in values), Fraction(0)) / 2
        own = found[run]["citation_precision"], found[run]["citation_recall"]
        assert own == pytest.approx((float(precision), float(recall)), abs=1e-12)


@pytest.mark.parametrize(
    ("credits", "vital", "all_", "vital_", "weighted", "strict"),
    [
        ([1, 0.5, 0], [True, True, False], 0.5, 0.75, 0.6, 1 / 3),
        ([0.5, 0.5], [False, False], 0.5, None, 0.5, 0),
        ([1], [True], 1, 1, 1, 1),
    ],
)
def test_credit_is_counted_as_defined(
    credits: list[float],
    vital: list[bool],
    all_: float,
    vital_: float | None,
    weighted: float,
    strict: float,
) -> None:
    found = nugget_scores(credits, vital)
    assert found["nugget_all"] == pytest.approx(all_)
    assert found["nugget_vital"] == pytest.approx(np.nan if vital_ is None else vital_, nan_ok=True)
    assert found["nugget_weighted"] == pytest.approx(weighted)
    assert found["nugget_all_strict"] == pytest.approx(strict)


def test_an_answer_without_citations_has_no_precision_and_recall_0() -> None:
    found = citation_scores([None, None])
    assert np.isnan(found["citation_precision"])
    assert found["citation_recall"] == 0
    assert citation_scores([1.0, None, 0.5, 0.0]) == {
        "citation_precision": 0.5,
        "citation_recall": 0.375,
    }


@pytest.mark.parametrize(
    "line",
    [
        '{"run_id": "a", "qid": "1"}',
        '{"run_id": "a", "qid": "1", "nuggets": [{"importance": "vital", "assignment": "yes"}]}',
        "[1]",
        '{"run_id": "a", "topic_id": "1", "sentences": [{"citations": [{"support": "x"}]}]}',
    ],
)
def test_what_is_no_assignment_is_named(
    tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f"{line}\n")
    assert main(["nuggets", "score", str(path)]) == 1
    assert "line 1: not an assignment" in capsys.readouterr().err


def test_a_topic_without_vital_nuggets_does_not_count_for_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def row(run: str, topic: str, importance: str, assignment: str) -> dict[str, Any]:
        nugget = {"importance": importance, "assignment": assignment}
        return {"run_id": run, "qid": topic, "nuggets": [nugget]}

    path = tmp_path / "x.jsonl"
    write_lines(
        path,
        [
            row("a", "1", "vital", "support"),
            row("a", "2", "okay", "support"),
            row("b", "1", "vital", "partial_support"),
        ],
    )
    found = score(path, capsys)
    assert (found["a"]["nugget_vital"], found["b"]["nugget_vital"]) == (1, 0.5)
    assert (found["a"]["nugget_all"], found["b"]["nugget_all"]) == (1, 0.25)


# --------------------------------------------------------------------------- words


def by_words(row: Mapping[str, Any]) -> list[str]:
    texts = tuple(nugget["text"] for nugget in row["nuggets"])
    return [
        NuggetWords().verdict(
            Item(
                "nuggets",
                row["qid"],
                text,
                {"question": row["query"], "nugget": text, "answer": row["answer_text"]},
                beside=texts,
            ),
            "en",
        )
        for text in texts
    ]


@pytest.mark.slow
def test_words_rank_runs_nearly_as_people_do(shared_data: Path) -> None:
    means: dict[str, defaultdict[str, list[float]]] = {}
    for name in ("people", "words"):
        means[name] = defaultdict(list)
    agreed = hits = found = wanted = 0
    for row in rows(shared_data / "nuggets" / "assignments.jsonl"):
        vital = [nugget["importance"] == "vital" for nugget in row["nuggets"]]
        people = [nugget["assignment"] for nugget in row["nuggets"]]
        words = by_words(row)
        agreed += sum(map(str.__eq__, people, words))
        hits += sum(p == w == "support" for p, w in zip(people, words, strict=True))
        found, wanted = found + words.count("support"), wanted + people.count("support")
        for name, given in (("people", people), ("words", words)):
            credits = [SCALES["nuggets"].values[word] for word in given]
            means[name][row["run_id"]].append(nugget_scores(credits, vital)["nugget_all"])
    runs = sorted(means["people"])
    tau = kendalltau(*([sum(means[name][run]) for run in runs] for name in means)).statistic
    # Held back topics give .80 (docs/graded.md); all that were seen give .83.
    assert tau == pytest.approx(0.83, abs=0.02)
    assert hits / found == pytest.approx(0.81, abs=0.02)
    assert hits / wanted == pytest.approx(0.425, abs=0.02)
    assert agreed / 7160 == pytest.approx(0.643, abs=0.01)


PAIRS = (
    ("en", "The guarantee lasts two years.", "It comes with a guarantee that lasts two years."),
    ("de", "Die Garantie gilt zwei Jahre.", "Die Garantie der Pumpe gilt zwei Jahre lang."),
    ("sl", "Garancija velja dve leti.", "Za črpalko garancija velja dve leti."),
    ("zh-Hant-TW", "保固期為兩年。", "這台水泵的保固期為兩年。"),
    ("ja", "保証期間は二年です。", "ポンプの保証期間は二年です。"),
    ("ko", "보증 기간은 이 년입니다.", "펌프의 보증 기간은 이 년입니다."),
)


@pytest.mark.parametrize(("language", "claim", "passage"), PAIRS)
def test_words_find_a_claim_in_every_language(language: str, claim: str, passage: str) -> None:
    others = [each for tag, _, each in PAIRS if tag != language]
    for text, verdicts in ((passage, ("support", "full_support")), (others[0], None)):
        texts = {"question": "?", "nugget": claim, "answer": text}
        nugget = NuggetWords().verdict(Item("nuggets", "q", "n", texts, beside=(claim,)), language)
        shown = {"sentence": claim, "passage": text}
        citation = CitationWords().verdict(Item("citations", "q", "1", shown), language)
        assert (nugget, citation) == (verdicts or ("not_support", "no_support"))


# ----------------------------------------------------------------- people's labels


def judged(path: Path, run: str, by_whom: str) -> dict[str, dict[str, Any]]:
    """The table of a run's judged answers, with its nuggets."""
    table = {}
    for row in rows(path):
        if row["run_id"] != run:
            continue
        words = by_words(row) if by_whom == "words" else [n["assignment"] for n in row["nuggets"]]
        items = [
            {
                **{"scale": "nuggets", "name": str(at), "note": nugget["importance"]},
                **{"verdict": word, "nugget": nugget["text"]},
            }
            for at, (nugget, word) in enumerate(zip(row["nuggets"], words, strict=True))
        ]
        about = {"question": row["query"], "answer": row["answer_text"]}
        table[row["qid"]] = {**about, "items": json.dumps(items)}
    return table


@pytest.mark.slow
@pytest.mark.parametrize(("n", "share"), [(60, 0.98), (100, 0.96)])
def test_intervals_hold_for_the_nuggets_of_two_runs(
    shared_data: Path, n: int, share: float
) -> None:
    path = shared_data / "nuggets" / "assignments.jsonl"
    runs = sorted({row["run_id"] for row in rows(path) if row["run_id"] != "webis-manual-manual"})
    rng, held, tried, errors, plans = np.random.default_rng(n), 0, 0, [], []
    for seed, (a, b) in enumerate(Random(3).sample(list(combinations(runs, 2)), 100)):
        whose = ("words", "people")
        pair, known = (
            answer_pair("nuggets", "nugget_all", judged(path, a, by), judged(path, b, by))
            for by in whose
        )
        assert pair.key == known.key
        items, labels = pair.items, known.items.judge
        truth = float((items.weights * labels).sum()) / items.of
        for again in range(3):
            draws, given = labelled(items, labels, Random(f"{seed} {again}"), n)
            found = estimated(items, draws, given)
            assert found
            held += found.low - 1e-9 <= truth <= found.high + 1e-9
            tried += 1
            whole = items.weights * labels
            plan = whole[rng.choice(len(whole), n, replace=False)].std(ddof=1)
            plan *= len(whole) * np.sqrt((1 - n / len(whole)) / n) / items.of
            errors.append(found.error)
            plans.append(plan)
    # docs/graded.md has these numbers. The goal is 93 to 97 %, and two standard errors of 300 draws
    # are 2.5 points.
    assert held / tried == pytest.approx(share, abs=0.01)
    if n == 100:
        assert np.mean(errors) == pytest.approx(0.073, abs=0.002)
        assert np.mean(plans) == pytest.approx(0.102, abs=0.003)


@pytest.mark.slow
def test_runs_with_equal_nuggets_are_rarely_called_different(shared_data: Path) -> None:
    path = shared_data / "nuggets" / "assignments.jsonl"
    runs = sorted({row["run_id"] for row in rows(path) if row["run_id"] != "webis-manual-manual"})
    wrong = tried = 0
    for seed, (a, b) in enumerate(Random(4).sample(list(combinations(runs, 2)), 200)):
        pair, known = (
            answer_pair("nuggets", "nugget_all", judged(path, a, by), judged(path, b, by))
            for by in ("words", "people")
        )
        items, labels = pair.items, known.items.judge
        ours = items.weights > 0
        sums = [float((items.weights * labels)[side].sum()) for side in (ours, ~ours)]
        # Both runs are worth the same to people.
        weights = np.where(ours, items.weights, items.weights * sums[0] / -sums[1])
        draws, given = labelled(replace(items, weights=weights), labels, Random(seed), 250, 25)
        wrong += first_look(replace(items, weights=weights), draws, given) is not None
        tried += 1
    # Two standard errors above one in twenty.
    assert wrong / tried <= 0.08


def test_the_price_of_grades_is_that_of_their_variance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    people = rng.integers(0, 4, 400)
    judge = np.where(rng.random(400) < 0.7, people, rng.integers(0, 4, 400))
    paths = tmp_path / "people.txt", tmp_path / "judge.txt"
    for path, grades in zip(paths, (people, judge), strict=True):
        # People have labeled the first half.
        own = grades[:200] if path == paths[0] else grades
        path.write_text("".join(f"q{n % 20} 0 d{n} {grade}\n" for n, grade in enumerate(own)))
    words = ["labels", "price", str(paths[0]), "--what", "documents", "--grades", str(paths[1])]
    assert main([*words, "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["systems"].values()
    assert found["n"] == 200
    assert found["human"] == pytest.approx(people[:200].mean() / 3)
    assert found["agreement"] == pytest.approx((people == judge)[:200].mean())
    correlation = np.corrcoef(people[:200], judge[:200])[0, 1]
    # Half of the items are labeled: the judge can take away at most half of what it explains.
    assert found["worth"] == pytest.approx(1 / (1 - correlation**2), rel=0.1)
    low, high = found["interval_95"]["corrected"]
    assert low < people.mean() / 3 < high
    assert high - low < np.subtract(*found["interval_95"]["alone"][::-1])
    assert main(words) == 0
    assert "worth" in capsys.readouterr().out
    assert main(words[:5]) == 1
    assert "needs --grades" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("people", "judge", "worth"),
    [
        ("rag25/people.txt", "rag25/umbrela.txt", 140),
        ("llmjudge/people.txt", "llmjudge/judges/willia-umbrela1.txt", 136),
        ("llmjudge/people.txt", "llmjudge/judges/TREMA-questions.txt", 112),
        ("llmjudge/people.txt", "llmjudge/judges/RMITIR-llama38b.txt", 121),
    ],
)
def test_what_published_judges_are_worth(
    shared_data: Path, people: str, judge: str, worth: int, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(shared_data / people), "--grades", str(shared_data / judge)]
    words = ["labels", "price", *files, "--what", "documents", "--format", "json"]
    assert main(words) == 0
    (found,) = json.loads(capsys.readouterr().out)["systems"].values()
    # docs/graded.md has these numbers.
    assert round(100 * found["worth"]) == worth
