"""`bears replies review`: export doubtful translations, and import decisions into the ledger."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from bears.errors import ConfigurationError, FormatError
from bears.translation.review import SHEET, read_decisions
from bears.translation.source_texts import Place
from bears.types import Document, Question
from stages import translate, verify
from tests.desk import MEMORY, Desk, Here, asked, here
from tests.provider_server import ProviderServer
from tests.pseudo import encode
from tests.questioning import published

__all__ = ["here"]

LEDGER = Path("conf/ledger/mini.yaml")
EMPTY = dict.fromkeys(SHEET.columns, "")


def decide(at: Desk, *decisions: Mapping[str, str], code: int = 0) -> str:
    """Import decisions, each a row of the table."""
    file = at.root / "decided.csv"
    SHEET.write(file, [EMPTY | dict(row) for row in decisions])
    return at.run("review", "--import", str(file), code=code)


def decision(place: tuple[str, str], word: str, **more: str) -> dict[str, str]:
    return {"record_id": place[0], "field": place[1], "decision": word, **more}


def filled(here: Here) -> Desk:
    return published(here()[0])


def replayed(at: Desk) -> dict[tuple[str, str], str]:
    at.stage("translate", translate.main)
    return {place: after for place, (_, after) in at.texts().items()}


def reviews(at: Desk) -> list[dict[str, Any]]:
    """Return the decisions in the ledger."""
    found: list[Any] = yaml.safe_load((at.root / LEDGER).read_text(encoding="utf-8"))["reviews"]
    return found


def cells(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def held(at: Desk, *never: str) -> tuple[Question, list[Document]]:
    """Return a question, none of ``never``, with the gold documents that contain its answer."""
    documents = {document.doc_id: document for document in at.documents()}
    for question in at.questions():
        gold = [documents[doc_id] for doc_id in question.gold_doc_ids]
        holding = [document for document in gold if question.gold_answer in document.content]
        if holding and question.source_dataset == "hotpotqa" and question.question_id not in never:
            return question, holding
    raise AssertionError("no such question")


def refilled(at: Desk, server: ProviderServer) -> list[tuple[str, str]]:
    """Fill and publish again; return the field and text of each new request."""
    count = len(server.prompts())
    at.run("fill")
    at.run("publish")
    return asked(server.prompts()[count:])


@pytest.mark.slow
def test_a_clean_benchmark_needs_no_review(here: Here) -> None:
    at = filled(here)
    assert "0 texts to look at" in at.run("review", "--export", str(at.root / "f.csv"))
    assert (at.root / "f.csv").read_text() == ",".join(SHEET.columns) + "\n"


@pytest.mark.slow
def test_a_table_is_exported_decided_and_imported(here: Here) -> None:
    at, _ = here("moody_and_markless")
    at.run("fill")
    file = at.root / "review.csv"
    printed = at.run("review", "--export", str(file))
    rows = cells(file)
    assert f"{len(rows)} texts to look at" in printed
    assert "the translation lost the mark" in rows[0]["flags"]
    rows[0] |= {"decision": "accept", "reason": "it reads well", "author": "Ann"}
    SHEET.write(file, rows)
    assert f"{LEDGER}: 1 decisions" in at.run("review", "--import", str(file))
    names = ("record_id", "field", "decision", "reason", "author")
    assert reviews(at) == [{name: rows[0][name] for name in names}]
    # What was accepted does not come up again.
    printed = at.run("review", "--export", str(file))
    assert f"{len(rows) - 1} texts to look at" in printed


@pytest.mark.slow
def test_a_corrected_text_replaces_the_kept_reply_and_a_document_keeps_its_answer(
    here: Here,
) -> None:
    at = filled(here)
    before = replayed(at)
    first, last = at.questions()[0], at.questions()[-1]
    place, gold = (last.question_id, "question"), (first.gold_doc_ids[0], "content")
    text = f"{encode('Well then, ')}{before[first.question_id, 'gold_answer']}."
    decide(at, decision(place, "correct", text="Շըաճ ${x} \\${y}?"))
    decide(at, decision(gold, "correct", text=text))
    assert replayed(at) == before | {place: "Շըաճ ${x} \\${y}?", gold: text}
    at.run("publish")
    assert replayed(at)[gold] == text


@pytest.mark.slow
def test_a_text_that_was_sent_back_is_requested_again(here: Here) -> None:
    at, server = here()
    refilled(at, server)
    before, document = replayed(at), at.negative()
    for times in (1, 2):
        decide(at, decision((document.doc_id, "content"), "retranslate"))
        printed = at.stage("translate", translate.main, code=1)
        assert "missing from the kept replies: 1 translations" in printed
        assert refilled(at, server) == [("content", document.content)]
        assert [row["times"] for row in reviews(at)] == [times]
    assert replayed(at) == before


@pytest.mark.slow
def test_an_answer_is_sent_back_together_with_its_document(here: Here) -> None:
    at, server = here()
    refilled(at, server)
    before = replayed(at)
    question, holding = held(at)
    for _ in range(2):
        decide(at, decision((question.question_id, "gold_answer"), "retranslate"))
        again = [text for _, text in refilled(at, server)]
        plain = [text.replace("⟦", "").replace("⟧", "") for text in again]
        assert plain == [document.content for document in holding]
        assert all("⟦" in text for text in again)
    # The document gets a new key when it is sent back later.
    decide(at, decision((holding[0].doc_id, "content"), "retranslate"))
    assert "kept replies: 1 translations" in at.stage("translate", translate.main, code=1)
    refilled(at, server)
    assert replayed(at) == before


@pytest.mark.slow
def test_an_answer_from_the_glossary_that_was_sent_back_is_translated_by_itself(here: Here) -> None:
    at, server = here("moody_and_markless")
    refilled(at, server)
    ours = {row["record_id"] for row in at.rows() if row["field"] == "gold_answer"}
    question, _ = held(at, *ours)
    decide(at, decision((question.question_id, "gold_answer"), "retranslate"))
    assert ("gold_answer", question.gold_answer) in refilled(at, server)


def test_accepting_a_new_translation_does_not_bring_the_old_one_back(here: Here) -> None:
    at = filled(here)
    place = (at.negative().doc_id, "content")
    decide(at, decision(place, "retranslate"))
    at.run("fill")
    old, new = [row["key"] for row in at.rows() if row["record_id"] == place[0]]
    decide(at, decision(place, "accept"))
    at.run("publish")
    replayed(at)
    assert {old, new} <= {json.loads(line)["key"] for line in at.replies.split(b"\n") if line}
    assert [(entry["decision"], entry["times"]) for entry in reviews(at)] == [("accept", 1)]
    # The replay uses the new one: without it, the translation is missing.
    lines = [line for line in at.replies.split(b"\n") if new.encode() not in line]
    (at.root / MEMORY).write_bytes(b"\n".join(lines))
    assert "kept replies: 1 translations" in at.stage("translate", translate.main, code=1)


def test_a_second_decision_on_a_settled_text_is_refused_by_name(here: Here) -> None:
    at = filled(here)
    place = (at.questions()[-1].question_id, "question")
    decide(at, decision(place, "accept", author="Ann"))
    before = (at.root / LEDGER).read_bytes()
    for other in (decision(place, "retranslate"), decision(place, "correct", text="誰？")):
        said = decide(at, other, code=1)
        assert f"such as {place[0]} question, by Ann, which was accept and is" in said
        assert (at.root / LEDGER).read_bytes() == before
    said = decide(at, decision(place, "accept", author="Ann"))
    assert "1 texts were decided before: 1 of them the same" in said
    file = str(at.root / "decided.csv")
    SHEET.write(Path(file), [EMPTY | decision(place, "correct", text="誰？")])
    at.run("review", "--import", file, "--replace")
    assert [(entry["decision"], entry["text"]) for entry in reviews(at)] == [("correct", "誰？")]


def test_an_accepted_finding_does_not_stop_the_pipeline(here: Here) -> None:
    at = filled(here)
    question = at.questions()[-1]
    place = (question.question_id, "question")
    decide(at, decision(place, "correct", text="Դըե ղաչ կզ ճկմեխծգ.", reason="a riddle"))
    replayed(at)
    printed = at.stage("verify", verify.main)
    assert f"accepted: question_mood: {question.question_id}" in printed
    assert "(a riddle)" in printed
    ledger = at.root / LEDGER
    ledger.write_text(ledger.read_text().replace("decision: correct", "decision: accept"))
    # Now the model's text is accepted; the corrected text and its finding are gone.
    assert replayed(at)[place] == encode(question.question)
    assert "question_mood" not in at.stage("verify", verify.main)


TEXTS: dict[Place, dict[str, str]] = {("q1", "question"): {}}


def test_a_table_saved_by_a_spreadsheet_is_read(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    row = ["q1", "question", "a flag", "Who?", "誰", "correct", "'=誰寫的？\n再說", "", ""]
    with file.open("w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream, delimiter=";").writerows([SHEET.columns[:-1], row])
    (found,) = read_decisions(file, TEXTS)
    # The apostrophe kept the spreadsheet from running the cell.
    assert (found.decision, found.text) == ("correct", "=誰寫的？\n再說")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [("q1", "question", "approve", "")],
            "row 2: decision is 'approve'; expected one of accept, correct, retranslate",
        ),
        ([("q1", "title", "accept", "")], "row 2: there is no q1 title"),
        ([("q1", "question", "correct", "\u3000\ufeff\u200b")], "row 2: .*its text is empty"),
        ([("q9", "question", "accept", "")], "row 2: there is no q9 question"),
        ([("q1", "content", "accept", "")], "row 2: there is no q1 content"),
        (
            [("q1", "question", "accept", ""), ("q1", "question", "correct", "Who?")],
            "row 3: a row above has another decision on q1 question",
        ),
    ],
)
def test_a_wrong_decision_is_refused_with_its_row(
    rows: list[tuple[str, str, str, str]], message: str, tmp_path: Path
) -> None:
    file = tmp_path / "f.csv"
    SHEET.write(file, [EMPTY | decision(row[:2], row[2], text=row[3]) for row in rows])
    with pytest.raises(ConfigurationError, match=message):
        read_decisions(file, TEXTS)


def test_rows_without_a_decision_and_equal_decisions_are_accepted(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    accepted = EMPTY | decision(("q1", "question"), "accept")
    SHEET.write(file, [accepted, EMPTY | {"record_id": "q1", "field": "question"}, accepted])
    assert len(read_decisions(file, TEXTS)) == 1


def test_a_file_that_is_not_a_table_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_text("record_id,field\nq1,question\n", encoding="utf-8")
    with pytest.raises(FormatError, match="lacks decision"):
        read_decisions(file, TEXTS)
