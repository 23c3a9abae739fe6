"""Benchmarks that are drawn from traces: their questions, weights and intervals, and no secrets."""

from __future__ import annotations

import csv
import json
import random
import string
import subprocess
from collections import Counter
from contextlib import chdir
from pathlib import Path
from statistics import fmean

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bears.cli import main
from bears.evaluation.comparison.result import compare
from bears.evaluation.comparison.values import Measured
from bears.evaluation.evaluate import evaluate, gold_of, parse_measure, results_of
from bears.evaluation.means import mean_interval
from bears.files.traces import read_traces
from bears.language.personal import masked
from bears.results.drawn import draw
from bears.results.recorded import Recorded
from bears.retrieval.outside.matching import Reply
from bears.types import Hit, Question, Turn

WORDS = ["river", "stone", "cloud", "violin", "harbor", "meadow", "copper", "lantern", "orchard"]


def recorded(text: str, start: float, session: str = "", answer: str = "Yes.") -> Recorded:
    return Recorded(Reply((), (), answer), ((text,),), start=start, session=session)


def traffic(rng: random.Random, total: int) -> list[str]:
    """Return questions as users ask them: a few very often, most rarely."""
    kinds = [f"Where is the {a} {b} of {c}?" for a in WORDS for b in WORDS for c in WORDS[:4]]
    return rng.choices(kinds, [1 / (1 + n) for n in range(len(kinds))], k=total)


@pytest.mark.slow
def test_the_interval_of_drawn_questions_has_the_mean_of_all_traffic() -> None:
    """Ten thousand traces; a system's value depends on the question, and changes with time."""
    rng = random.Random(11)
    texts = traffic(rng, 10_000)
    value = {text: min(1.0, max(0.0, rng.gauss(0.6, 0.3))) for text in texts}
    truth = fmean(value[text] for text in texts)
    traces = [recorded(text, float(at)) for at, text in enumerate(texts)]
    held, means = [], []
    for seed in range(300):
        drawn = draw(traces, 100, "en", seed)
        values = np.array([value[each.text] for each in drawn for _ in each.drawn])
        assert len(values) == 100
        low, high = mean_interval(values, "ndcg@10")
        held.append(low <= truth <= high)
        means.append(float(values.mean()))
    assert 0.93 <= fmean(held) <= 0.98
    # No bias: within three standard errors.
    assert abs(fmean(means) - truth) < 3 * np.std(means) / np.sqrt(len(means))


def test_users_who_ask_nearly_the_same_are_one_question() -> None:
    asked = [
        *(
            "How do I cancel my contract?",
            "how do i cancel my contract",
            "How do I cancel my contract??",
        ),
        *("What changed in 2023?", "What changed in 2024?"),
    ]
    drawn = draw([recorded(text, at) for at, text in enumerate(asked)], 100, "en", 1)
    sizes = Counter({each.text: len(each.asked) for each in drawn})
    assert sorted(sizes.values()) == [1, 1, 3]
    assert {"What changed in 2023?", "What changed in 2024?"} < sizes.keys()


def test_a_follow_up_is_asked_after_what_was_said() -> None:
    traces = [
        recorded("Who may work remotely?", 1, "s1", "All of us, says a@b.example."),
        recorded("Who pays for lunch?", 2, "s2", "You do."),
        recorded("Since when?", 3, "s1"),
        recorded("Since when?", 4, "s2"),
        recorded("Since when?", 5),
    ]
    found = {each.turns: each.text for each in draw(traces, 10, "en", 1) if "Since" in each.text}
    assert found.keys() == {
        (),
        (Turn("user", "Who may work remotely?"), Turn("assistant", "All of us, says [email].")),
        (Turn("user", "Who pays for lunch?"), Turn("assistant", "You do.")),
    }


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(1, 4)), min_size=3, max_size=12
    )
)
def test_a_weight_is_as_many_independent_questions(rows: list[tuple[float, float, int]]) -> None:
    """The same values with each question written as often as it was drawn are the same result."""

    def systems(
        names: list[str], each: list[tuple[float, float, int]], **kinds: list[str]
    ) -> list[Measured]:
        index = pd.Index(names, name="question_id")
        return [
            Measured(
                name,
                "",
                pd.DataFrame({"ndcg@10": [row[at] for row in each]}, index=index),
                pd.DataFrame(kinds, index=index),
            )
            for at, name in enumerate(("a", "b"))
        ]

    names = [f"q{n:02}" for n in range(len(rows))]
    weighted = systems(names, rows, weight=[str(row[2]) for row in rows], cluster=["c"] * len(rows))
    copies = [
        (f"{name}-{copy}", row)
        for name, row in zip(names, rows, strict=True)
        for copy in range(row[2])
    ]
    plain = systems([name for name, _ in copies], [row for _, row in copies])
    ours, theirs = compare(weighted), compare(plain)
    assert ours["pairs"] == theirs["pairs"]
    assert ours["systems"] == theirs["systems"]


def test_metrics_count_a_question_as_often_as_it_was_drawn() -> None:
    questions = [
        Question("q1", "One?", "", ("d1",), "s", "single-hop", weight=3),
        Question("q2", "Two?", "", ("d2",), "s", "multi-hop"),
    ]
    run = {"q1": (Hit("d1", 1.0),), "q2": (Hit("d1", 1.0),)}
    measures = [parse_measure("success@1")]
    found = results_of(evaluate(run, gold_of(questions), measures), questions, measures)
    assert found["all"] == {"success@1": 0.75, "n": 4, "answered": 4}
    assert found["by_type"]["single-hop"]["n"] == 3
    # Wilson's interval of 3 of 4, from another program: statsmodels 0.14, proportion_confint.
    assert found["interval_95"]["success@1"] == pytest.approx(
        {"low": 0.30064, "high": 0.95441}, abs=1e-5
    )


def planted(rng: random.Random) -> tuple[str, str]:
    """Return a secret or personal datum, and the part of it that must not be kept."""

    def some(alphabet: str, n: int) -> str:
        return "".join(rng.choices(alphabet, k=n))

    small = string.ascii_lowercase
    letters, digits = string.ascii_letters + string.digits, string.digits
    hexes, upper = "0123456789abcdef", string.ascii_uppercase + digits
    card = some(digits, 15)
    doubled = [int(d) * (2 - n % 2) for n, d in enumerate(card)]
    check = -sum(d - 9 * (d > 9) for d in doubled) % 10
    number = f"{rng.choice(['202', '415', '646'])}-{rng.randrange(200, 999)}-{some(digits, 4)}"
    kinds = [
        f"AKIA{some(upper, 16)}",
        f"ghp_{some(letters, 36)}",
        f"sk-proj-{some(letters, 48)}",
        f"xoxb-{some(digits, 12)}-{some(digits, 12)}-{some(letters, 24)}",
        f"glpat-{some(letters, 20)}",
        some(hexes, 40),
        some(letters, 40),
        f"{some(small, 7)}.{some(small, 5)}@{some(small, 8)}.org",
        f"+1-{number}",
        f"({number[:3]}) {number[4:]}",
        f"+49 170 {some('123456789', 1)}{some(digits, 6)}",
        " ".join(f"{card}{check}"[at : at + 4] for at in range(0, 16, 4)),
    ]
    found = rng.choice(kinds)
    return found, found


@pytest.mark.slow
def test_of_a_thousand_planted_secrets_none_is_kept(tmp_path: Path) -> None:
    """In questions, answers, searches and passages; whatever git holds, and every file."""
    rng, kept = random.Random(3), []
    documents = tmp_path / "documents"
    documents.mkdir()
    for word in WORDS:
        (documents / f"{word}.md").write_text(f"The {word} belongs to the town of Linz.", "utf-8")
    rows = []
    for n in range(250):
        secrets = [planted(rng) for _ in range(4)]
        kept += [part for _, part in secrets]
        (a, _), (b, _), (c, _), (d, _) = secrets
        word = rng.choice(WORDS)
        question = f"My contact is {a}, to whom does the {word} number {n} belong?"
        says = {
            "input.value": question,
            "output.value": f"Ask {b} for it.",
            "session.id": f"s{n // 3}",
        }
        search = {
            "openinference.span.kind": "RETRIEVER",
            "input.value": f"{word} of {c}",
            "output.value": json.dumps([{"id": f"{word}.md", "content": f"from {d}: Linz"}]),
        }
        spans = [("a", "", says), ("b", "a", search)]
        rows.append(
            {
                "resourceSpans": [
                    {
                        "scopeSpans": [
                            {
                                "spans": [
                                    {
                                        "traceId": f"{n:032x}",
                                        "spanId": name,
                                        "parentSpanId": parent,
                                        "startTimeUnixNano": str(10**18 + n * 10**9),
                                        "endTimeUnixNano": str(10**18 + n * 10**9 + 10**8),
                                        "attributes": [
                                            {"key": key, "value": {"stringValue": text}}
                                            for key, text in attributes.items()
                                        ],
                                    }
                                    for name, parent, attributes in spans
                                ]
                            }
                        ]
                    }
                ]
            }
        )
    file = tmp_path / "week.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    project = tmp_path / "ours"
    options = ["--traces", str(file), "--count", "1000", "--set", "language=en"]
    assert main(["init", str(project), "--documents", str(documents), *options]) == 0
    # Without the documents, the passages are the documents.
    with chdir(project):
        assert main(["new", "alone", *options]) == 0
        assert main(["new", "alone", *options]) == 1
    for name in ("ours", "alone"):
        with (project / f"traces/{name}/questions.csv").open(encoding="utf-8") as stream:
            table = list(csv.DictReader(stream))
        assert sum(int(row["weight"]) for row in table) == 250
        assert all(row["masked"] for row in table)
        assert len([*read_traces(project / f"traces/{name}/{name}.traces.jsonl")]) == 250
        git = ["git", "log", "--all", "-p"]
        history = subprocess.run(
            git, cwd=project, capture_output=True, text=True, check=True
        ).stdout
        files = [each for each in project.rglob("*") if each.is_file() and ".git" not in each.parts]
        everything = history + "".join(each.read_text("utf-8", "replace") for each in files)
        assert [part for part in kept if part in everything] == []
        tracked = subprocess.run(["git", "ls-files"], cwd=project, capture_output=True, check=True)
        assert b"traces/" not in tracked.stdout


@pytest.mark.parametrize(
    ("language", "text", "kept"),  # empty: as it is
    [
        ("de", "Mein Passwort lautet Sommer2026!", "Mein Passwort lautet [secret]"),
        ("sl", "Moja številka je 041 234 567", "Moja številka je [phone]"),
        ("sl", "geslo je Poletje26", "geslo je [secret]"),
        ("ko", "비밀번호는 qwer1234! 입니다", "비밀번호는 [secret] 입니다"),
        ("ja", "電話は090-1234-5678です", "電話は[phone]です"),
        ("zh-Hant-TW", "我的手機是0912-345-678", "我的手機是[phone]"),
        ("zh-Hant", "密碼是abc12345，為什麼不行", "密碼是[secret]，為什麼不行"),
        ("en", "access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "access_key=[secret]"),
        ("en", "it takes Tr0ub4dor&3 no more", "it takes [secret] no more"),
        ("en", "Is the password issue-tracker1 asks for kept?", ""),
        ("en", "Does the token limit of 128000 hold for GPT-4o-mini?", ""),
    ],
)
def test_secrets_are_masked_in_other_languages(language: str, text: str, kept: str) -> None:
    assert masked(text, language)[0] == (kept or text)


def test_ordinary_questions_stay_as_they_are(shared_data: Path) -> None:
    texts = {"en": [], "zh-Hant-TW": []}  # type: dict[str, list[str]]
    (claims,) = shared_data.glob("scifact/**/queries.jsonl")
    texts["en"] = [json.loads(line)["text"] for line in claims.read_text("utf-8").splitlines()]
    published = json.loads((shared_data / "bears-published/queries.json").read_text("utf-8"))
    texts["zh-Hant-TW"] = [each["question"] for each in published]
    assert sum(map(len, texts.values())) > 300
    changed = [t for tag, own in texts.items() for t in own if masked(t, tag)[1]]
    assert changed == []
