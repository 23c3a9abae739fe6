"""Judges of answers, held against people: EVOUNA's labels, textbook values, draws of a hundred."""

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bears.answers.judging.calibration import calibrate
from bears.answers.judging.labels import LabelledAnswer, read_labels
from bears.answers.judging.lexical import Contains, Exact
from bears.answers.judging.ruling import Case
from bears.cli import main
from bears.errors import FormatError
from tests.workspace import ROOT

# Of the issue that asked for it: people, contains, exact match, agreement, kappa, TPR, TNR.
EVOUNA = {
    "fid": (0.6893, 0.5913, 0.5614, 0.8973, 0.7794, 0.8544, 0.9925),
    "gpt35": (0.6549, 0.5061, 0.0275, 0.8466, 0.6921, 0.7693, 0.9933),
    "chatgpt": (0.7297, 0.5783, 0.0149, 0.8029, 0.5753, 0.7612, 0.9154),
    "gpt4": (0.7883, 0.6171, 0.0000, 0.8248, 0.5948, 0.7803, 0.9906),
    "newbing": (0.7993, 0.6532, 0.0000, 0.8221, 0.5644, 0.7973, 0.9208),
}
ROW = {
    "system": "a",
    "question_id": "1",
    "question": "Who?",
    "gold_answers": ["Ada Lovelace", "Lovelace"],
    "answer": "It was Lovelace.",
    "label": True,
}


def judged(counts: Mapping[Any, int]) -> list[LabelledAnswer]:
    """So many answers of each (label, verdict)."""
    pairs = [pair for pair, count in counts.items() for _ in range(count)]
    return [
        LabelledAnswer("a", Case(str(number), "?", ("gold",), ""), label, verdict)
        for number, (label, verdict) in enumerate(pairs)
    ]


def evouna(shared_data: Path) -> dict[str, tuple[list[bool], list[bool]]]:
    """System to what ``contains`` says of its answers, and what people say."""
    found: dict[str, tuple[list[bool], list[bool]]] = {}
    for each in read_labels(shared_data / "evouna" / "NQ.json"):
        verdicts, labels = found.setdefault(each.system, ([], []))
        verdicts.append(Contains().verdict(each.case, "en") == "pass")
        labels.append(bool(each.label))
    return found


@pytest.mark.slow
def test_evouna_gives_the_known_figures(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    labels = str(shared_data / "evouna" / "NQ.json")
    found = {}
    for judge in ("contains", "exact"):
        assert main(["labels", "price", labels, "--judge", judge, "--format", "json"]) == 0
        found[judge] = json.loads(capsys.readouterr().out)
    assert found["contains"]["language"] == "en"
    for system, expected in EVOUNA.items():
        one, other = (found[judge]["systems"][system] for judge in ("contains", "exact"))
        names = ("agreement", "kappa", "tpr", "tnr")
        values = (one["human"], one["judge"], other["judge"], *(one[name] for name in names))
        assert tuple(round(value, 4) for value in values) == expected
        assert one["n"] == 3019
        assert one["corrected"] == pytest.approx(one["human"])
    assert list(found["contains"]["systems"]) == list(EVOUNA)


def test_the_table_in_the_docs_is_that_of_evouna() -> None:
    text = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \|((?: [.\d]+ \|){7})$", text, re.MULTILINE)
    table = {name: tuple(float(v) for v in cells.split("|")[:-1]) for name, cells in rows}
    assert table == EVOUNA


def test_kappa_is_that_of_the_textbook() -> None:
    # Fleiss, Levin and Paik's definition worked by hand: po = .7, pe = .5, kappa = .4.
    counts = {(True, "pass"): 20, (True, "fail"): 5, (False, "pass"): 10, (False, "fail"): 15}
    found = calibrate(judged(counts))["a"]
    assert (found["agreement"], found["kappa"]) == pytest.approx((0.7, 0.4))
    assert (found["tpr"], found["tnr"]) == pytest.approx((20 / 25, 15 / 25))
    # Altman's interval: kappa ± 1.96 sqrt(po (1 - po) / (n (1 - pe)²)), near the exact variance.
    low, high = found["interval_95"]["kappa"]
    assert (low, high) == pytest.approx((0.146, 0.654), abs=0.01)


def test_what_nobody_knows_is_no_fail() -> None:
    counts = {(True, "pass"): 6, (False, "fail"): 6, (True, "unscored"): 7, (None, "pass"): 3}
    found = calibrate(judged(counts))["a"]
    assert (found["n"], found["judged"], found["unscored"]) == (12, 15, 7)
    assert found["agreement"] == 1
    assert found["corrected"] == pytest.approx(9 / 15)
    assert found["alone"] == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("counts", "kappa"),
    [
        # By (po - pe) / (1 - pe), with po = pe wherever one side is constant.
        ({(True, "pass"): 3, (False, "pass"): 2}, 0),
        ({(True, "fail"): 3, (False, "fail"): 2}, 0),
        ({(True, "pass"): 3, (True, "fail"): 2}, 0),
        ({(True, "fail"): 5}, 0),
        # pe = 1, so that nothing is divided by nothing.
        ({(True, "pass"): 5}, None),
        ({(True, "unscored"): 3, (False, "unscored"): 2}, None),
    ],
)
def test_kappa_of_constant_verdicts_is_0_where_chance_does_not_explain_everything(
    counts: dict[tuple[bool | None, str], int], kappa: int | None
) -> None:
    found = calibrate(judged(counts))["a"]
    assert found["kappa"] == kappa
    assert found["interval_95"]["kappa"] is None


def test_lexical_judges_compare_normal_forms() -> None:
    golds = ("The Beatles", "Beatles")
    assert Exact().verdict(Case("q", "?", golds, "the BEATLES!"), "en") == "pass"
    assert Exact().verdict(Case("q", "?", golds, "It was the Beatles"), "en") == "fail"
    assert Contains().verdict(Case("q", "?", golds, "It was the Beatles [CITE:3]."), "en") == "pass"
    assert Contains().verdict(Case("q", "?", ("台北市",), "答案是臺北市。"), "zh-Hant-TW") == "pass"
    assert Contains().verdict(Case("q", "?", ("台北市",), "高雄市"), "zh-Hant-TW") == "fail"


def test_a_question_without_gold_or_with_a_gold_answer_of_nothing_passes_no_answer() -> None:
    assert Contains().verdict(Case("q", "?", ("The",), "anything"), "en") == "unscored"
    assert Contains().verdict(Case("q", "?", ("?", "ada"), "anything"), "en") == "fail"
    for judge in (Contains(), Exact()):
        assert judge.verdict(Case("q", "?", (), ""), "en") == "unscored"


def test_labels_are_the_same_from_every_form(tmp_path: Path) -> None:
    rows = [ROW, {**ROW, "question_id": "2", "label": False}, {**ROW, "system": "b", "label": None}]
    lines, array, table = (tmp_path / name for name in ("l.jsonl", "l.json", "l.csv"))
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    array.write_text(json.dumps(rows), encoding="utf-8")
    with table.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(ROW))
        writer.writeheader()
        words = {True: "Pass", False: "0", None: ""}
        for row, golds in zip(
            rows, ("Ada Lovelace/Lovelace", *['["Ada Lovelace", "Lovelace"]'] * 2), strict=True
        ):
            writer.writerow({**row, "gold_answers": golds, "label": words[row["label"]]})  # type: ignore[index]
    expected = read_labels(lines)
    assert expected[0].case.golds == ("Ada Lovelace", "Lovelace")
    assert [each.label for each in expected] == [True, False, None]
    assert read_labels(array) == read_labels(table) == expected


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ([{**ROW, "label": "maybe"}], "record 1: label: expected true, false or nothing"),
        ([ROW, ROW], "record 2: 'a' answers '1' before too"),
        ([{k: v for k, v in ROW.items() if k != "answer"}], "record 1: answer: Field required"),
        ([{**ROW, "gold_answers": 5}], "gold_answers"),
        ([{**ROW, "question_id": 7}], "question_id"),
        ([{**ROW, "answer": 0}], "answer"),
        (["text"], "expected an object"),
        ([], "no labels"),
    ],
)
def test_a_row_that_does_not_fit_is_named(tmp_path: Path, rows: object, named: str) -> None:
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(FormatError, match=re.escape(named)):
        read_labels(path)


def test_the_command_counts_the_disagreements_and_knows_its_judges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    labels = tmp_path / "labels.jsonl"
    rows = [ROW, {**ROW, "question_id": "2", "answer": "Babbage", "label": True}]
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    words = ["labels", "price", str(labels)]
    assert main([*words, "--judge", "contains"]) == 0
    assert "contains and people differ on 1 answers" in capsys.readouterr().out
    assert main([*words, "--judge", "gpt"]) == 1
    assert "Could not find 'judge/gpt'" in capsys.readouterr().err


@pytest.mark.parametrize(("language", "rate"), [("en", 1.0), ("nl", 0.0)])
def test_the_judge_reads_answers_in_the_language_that_is_given(
    language: str,
    rate: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As SQuAD's script does, English drops its articles; Dutch does not know "the"."""
    monkeypatch.chdir(ROOT)
    labels = tmp_path / "labels.json"
    labels.write_text(json.dumps([{**ROW, "gold_answers": ["The Hague"], "answer": "In Hague."}]))
    words = ["labels", "price", str(labels), "--judge", "contains", "--language", language]
    assert main([*words, "--yes", "--set", "judge.name=ours", "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["language"], said["systems"]["a"]["judge"]) == (language, rate)
