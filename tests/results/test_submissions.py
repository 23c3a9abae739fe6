"""Submissions: the published give the published counts; the hostile are refused or flagged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bears.errors import FormatError
from bears.files.records import write_lines
from bears.files.spreadsheet import write_csv
from bears.results.scored import CheckedSubmission, check
from bears.results.submission import Submission, read_submission, science_ko_row
from bears.results.system import System
from bears.types import Finding, Hit, Question, QuestionType

PUBLISHED = {
    "bge-m3": (206, 205),
    "multilingual-e5-base": (205, 204),
    "text-embedding-3-small": (205, 199),
    "qdrant-openai-embedding-3-small": (199, 199),
}
"""System to the counts at k=2 and k=1, from PandaChat's published tables (METRICS.md §5)."""


def question(question_id: str, *gold: str, text: str = "", judged: bool = True) -> Question:
    kind: QuestionType = "ad-hoc" if gold else "no-retrieval"
    return Question(question_id, text or question_id, "", gold, "s", kind, judged=judged)


QUESTIONS = [question("q1", "d1"), question("q2", "d2", "d3"), question("q3")]
DOCUMENTS = ["d1", "d2", "d3", "d4"]


def submitted(folder: Path, value: Any, name: str = "submission.json") -> Submission:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return read_submission(path)


def checked(submission: Submission) -> CheckedSubmission:
    return check(submission, QUESTIONS, DOCUMENTS)


def checks(findings: tuple[Finding, ...]) -> set[tuple[str, str]]:
    return {(finding.check, finding.severity) for finding in findings}


@pytest.fixture(scope="session")
def pandachat(shared_data: Path) -> tuple[Path, list[Question]]:
    """The folder of submissions, and the questions with the gold of the published dataset."""
    rows = json.loads((shared_data / "pandachat" / "pandachat-rag-si-dataset.json").read_bytes())
    questions = [question(r["query"], r["document"], text=r["query"]) for r in rows]
    return shared_data / "pandachat" / "submissions", questions


def test_the_published_submissions_give_the_published_counts(
    pandachat: tuple[Path, list[Question]],
) -> None:
    folder, questions = pandachat
    found = {}
    for path in folder.iterdir():
        submission = read_submission(path)
        lists = check(submission, questions, []).lists
        found[submission.system] = tuple(
            sum(bool({*lists[q.question_id][:k]} & {*q.gold_doc_ids}) for q in questions)
            for k in (2, 1)
        )
    assert found == PUBLISHED


def test_texts_name_questions_whatever_their_case_and_white_space(tmp_path: Path) -> None:
    rows = [{"query": f" {text}\n", "sources": ["d1", "d4"]} for text in ("Q1", "q2")]
    found = check(submitted(tmp_path, {"df": rows}), QUESTIONS, DOCUMENTS)
    assert found.lists == {"q1": ("d1", "d4"), "q2": ("d1", "d4")}
    with pytest.raises(FormatError, match="is the text of the questions q1 and q9"):
        check(submitted(tmp_path, {"df": rows}), [*QUESTIONS, question("q9", text="Q1")], DOCUMENTS)


def test_only_the_list_of_one_source_is_warned_of(pandachat: tuple[Path, list[Question]]) -> None:
    folder, questions = pandachat
    documents = {doc_id for q in questions for doc_id in q.gold_doc_ids}
    warned = {}
    for path in folder.iterdir():
        submission = read_submission(path)
        findings = check(submission, questions, documents).findings
        assert not [finding for finding in findings if finding.severity == "error"]
        warned[submission.system] = [f for f in findings if f.check == "short_list"]
    short = warned.pop("qdrant-openai-embedding-3-small")
    assert "205 of 206 lists are shorter than k=2, most of them with 1 source" in short[0].message
    assert not any(warned.values())


def test_a_claimed_gold_is_never_believed(
    pandachat: tuple[Path, list[Question]], tmp_path: Path
) -> None:
    folder, questions = pandachat
    path = next(folder.glob("*qdrant*"))
    whole = json.loads(path.read_bytes())
    for row in whole["df"]:
        row["document"] = row["sources"][0]
    lists = check(submitted(tmp_path, whole), questions, [])
    correct = sum(bool({*lists.lists[q.question_id][:2]} & {*q.gold_doc_ids}) for q in questions)
    assert correct == 199


def test_a_question_that_is_a_document_does_not_count_as_its_own_find(tmp_path: Path) -> None:
    questions = [question("d1", "d2"), question("q2", "d2")]
    run = submitted(tmp_path, {"d1": ["d1", "d2"], "q2": ["d1", "d2"]})
    assert check(run, questions, DOCUMENTS).lists["d1"] == ("d1", "d2")
    ignoring = check(run, questions, DOCUMENTS, ignore_identical_ids=True)
    assert ignoring.lists == {"d1": ("d2",), "q2": ("d1", "d2")}
    assert ("identical_id", "warning") in checks(ignoring.findings)


def test_the_tasks_own_sample_is_read(shared_data: Path) -> None:
    submission = read_submission(shared_data / "science_ko" / "sample_submission.csv")
    assert submission.form == "science-ko"
    assert len(submission.rows) == 220
    assert submission.rows[0].question == "78"
    assert sum(not row.doc_ids for row in submission.rows) == 18


def test_a_trec_run_is_ranked_by_score_and_named_by_its_tag(tmp_path: Path) -> None:
    run = "q1 Q0 d4 1 0.5 other\nq1 Q0 d1 2 0.9 other\n"
    submission = submitted(tmp_path, run, "run.trec")
    assert (submission.form, submission.system) == ("trec", "other")
    assert checked(submission).lists == {"q1": ("d1", "d4")}


@pytest.mark.parametrize(
    "value",
    [
        {"system": "mine", "results": [{"question_id": "q1", "doc_ids": ["d1", "d4"]}]},
        {"system": "mine", "results": {"q1": ["d1", "d4"]}},
        [{"question_id": "q1", "doc_ids": ["d1", "d4"]}],
        {"q1": ["d1", "d4"]},
    ],
)
def test_our_own_form_in_its_shapes(tmp_path: Path, value: Any) -> None:
    submission = submitted(tmp_path, value)
    assert submission.form == "bears"
    assert checked(submission).lists == {"q1": ("d1", "d4")}


RANX = {"q1": {"d4": 0.5, "d1": 2.0}, "q2": {"d2": 1.0, "d3": 1.0}}


@pytest.mark.parametrize(
    "value",
    [
        RANX,
        {"results": RANX},
        {"mteb_model_meta": {"model_name": "m", "revision": "r"}, "default": {"test": RANX}},
    ],
)
def test_predictions_of_ranx_and_mteb_are_ranked_by_their_scores(
    tmp_path: Path, value: Any
) -> None:
    found = checked(submitted(tmp_path, value))
    # As trec_eval orders documents of the same score.
    assert found.lists == {"q1": ("d1", "d4"), "q2": ("d3", "d2")}
    assert found.run["q2"] == (Hit("d3", 1.0), Hit("d2", 1.0))
    assert checked(submitted(tmp_path, {"q1": {"d1": 0.5}})).lists == {"q1": ("d1",)}
    for wrong in ({"q1": {"d1": "best"}}, {"test": RANX, "dev": RANX}):
        with pytest.raises(FormatError, match=r"expected|valid|Input"):
            submitted(tmp_path, wrong)


def results(*rows: tuple[str, list[str]]) -> list[dict[str, Any]]:
    return [{"question_id": question_id, "doc_ids": ids} for question_id, ids in rows]


WHOLE = [("q1", ["d1", "d4"]), ("q2", ["d2", "d3"]), ("q3", [])]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (WHOLE, set()),
        ([], {("empty", "error"), ("missing_question", "warning")}),
        ([("q1", []), ("q2", []), ("q3", [])], {("empty", "error")}),
        (WHOLE[:2], {("missing_question", "warning")}),
        ([*WHOLE, ("q9", ["d1"])], {("unknown_question", "error")}),
        ([*WHOLE, ("q1", ["d1"])], {("repeated_question", "error")}),
        ([("q1", ["d1", "d1"]), *WHOLE[1:]], {("repeated_document", "error")}),
        ([("q1", ["d1", "d99"]), *WHOLE[1:]], {("unknown_document", "warning")}),
        ([("q1", ["d1"]), ("q2", ["d2"]), WHOLE[2]], {("short_list", "warning")}),
    ],
)
def test_what_is_said_of_a_submission(
    tmp_path: Path, rows: list[tuple[str, list[str]]], expected: set[tuple[str, str]]
) -> None:
    assert checks(checked(submitted(tmp_path, results(*rows))).findings) == expected


def test_an_empty_list_is_the_right_answer_where_nothing_is_to_be_found(tmp_path: Path) -> None:
    facts = checked(submitted(tmp_path, results(*WHOLE))).facts
    assert (facts["questions"], facts["listed"], facts["answered"]) == (3, 3, 2)


TIMED = json.dumps({"system": "s", "results": results(*WHOLE), "seconds_per_question": 0})


@pytest.mark.parametrize("seconds", ["NaN", "1e400", "-1e-300", "1" + "0" * 399, "true", '"1"'])
@pytest.mark.parametrize("form", ["bears", "pandachat"])
def test_a_time_that_cannot_be_is_refused(tmp_path: Path, seconds: str, form: str) -> None:
    panda = '{"df": [{"query": "q1", "sources": []}], "time_per_question": 0}'
    text = (TIMED if form == "bears" else panda).replace("0}", f"{seconds}}}")
    with pytest.raises(FormatError, match=r"per_question: Input should be"):
        submitted(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "recursion limit exceeded"),
        ('{"df": ' * 50_000, "nested too deeply|not valid JSON"),
        ('{"system": "x"}', "no `results`, so every name is a question: results.1.doc_ids"),
        ('{"df": {}}', "df: Input should be a valid list, found {}"),
        ('{"df": [{"query": "q"}]}', "df.1.sources: Field required"),
        ('{"df": [{"query": "q", "sources": "d1"}]}', "df.1.sources: Input should be a valid list"),
        ('{"df": [{"query": ["q"], "sources": []}]}', "df.1.query: Input should be a valid string"),
        ('{"q1": ["d1"], "q1": ["d2"]}', "repeated in one object"),
        ('[{"question_id": true, "doc_ids": []}]', "results.1.question_id: .*string, found True"),
        ('[{"question_id": "q1", "doc_ids": [null]}]', "results.1.doc_ids.1: .*string, found None"),
        ('[{"question_id": " ", "doc_ids": []}]', "results.1.question_id: an empty id"),
        ('{"eval_id": 1, "topk": ["d1"]}\n{"eval_id": 2}\n', "line 2: topk: Field required"),
        ('{"eval_id": 1, "topk": ["d1"]}\n{"eval', "line 2: not valid JSON"),
        (json.dumps({"q1": ["x" * 501]}), "at most 500 characters"),
        (json.dumps({"q1": ["d"] * 10_001}), "at most 10000 items"),
        ("q1 Q0 d1 1 nan tag\n", "line 1: the score 'nan' is not a finite number"),
        ("q1,d1\n", "expected six"),
    ],
)
def test_what_is_malformed_is_an_error_that_names_it(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        submitted(tmp_path, text)


def test_a_path_from_within_is_only_an_id(tmp_path: Path) -> None:
    rows = [("q1", ["../../etc/passwd", "d1"]), *WHOLE[1:]]
    found = checked(submitted(tmp_path, results(*rows)))
    assert found.lists["q1"] == ("../../etc/passwd", "d1")
    assert checks(found.findings) == {("unknown_document", "warning")}


def test_the_korean_line_has_three_documents_and_its_number() -> None:
    ranking = tuple(Hit(f"d{i}", 1.0 / i) for i in range(1, 6))
    row = science_ko_row(question("78", "d1"), "나무", ranking, {"d1": "글"}, "답")
    assert list(row) == ["eval_id", "standalone_query", "topk", "answer", "references"]
    assert (row["eval_id"], row["answer"]) == (78, "답")
    assert row["topk"] == ["d1", "d2", "d3"]
    assert row["references"][0] == {"score": 1.0, "content": "글"}


def test_a_systems_answers_stand_beside_their_judgements(tmp_path: Path) -> None:
    answers, judged = tmp_path / "answers.jsonl", tmp_path / "judged.csv"
    write_lines(answers, [{"question_id": "q1", "answer": "Rome"}, {"question_id": "q2"}])
    write_csv(judged, ["question_id", "verdict"], [["q1", "pass"], ["q2", "fail"]])
    system = System("s", "", pd.DataFrame(), files=(answers, judged))
    assert {key: row["verdict"] for key, row in system.judged.items()} == {
        "q1": "pass",
        "q2": "fail",
    }
    assert {key: each.answer for key, each in system.traces.items()} == {"q1": "Rome", "q2": None}
