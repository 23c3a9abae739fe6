"""Export doubtful translations as a table, and import a person's decisions into the ledger."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from bears.errors import ConfigurationError
from bears.files.records import read_documents, read_questions
from bears.translation.review import COLUMNS, read_decisions, write_review
from stages import translate, verify
from tests.desk import MEMORY, SAMPLED, Desk, Here, asked, here
from tests.pseudo import encode

__all__ = ["here"]

LEDGER = Path("conf/ledger/mini.yaml")


def decide(at: Desk, *decisions: Mapping[str, str], code: int = 0) -> str:
    """Import decisions, each a row of the table."""
    file = at.root / "decided.csv"
    write_review(file, [dict.fromkeys(COLUMNS, "") | dict(row) for row in decisions])
    return at.run("review", "--import", str(file), code=code)


def decision(place: tuple[str, str], word: str, **more: str) -> dict[str, str]:
    return {"record_id": place[0], "field": place[1], "decision": word, **more}


def filled(here: Here, behaviour: str = "good") -> Desk:
    at, _ = here(behaviour)
    at.run("fill")
    at.run("publish")
    return at


def replayed(at: Desk) -> dict[tuple[str, str], str]:
    at.stage("translate", translate.main)
    return {place: after for place, (_, after) in at.texts().items()}


def test_a_clean_benchmark_needs_no_review(here: Here) -> None:
    at = filled(here)
    assert "0 texts to look at" in at.run("review", "--export", str(at.root / "f.csv"))
    assert (at.root / "f.csv").read_text() == ",".join(COLUMNS) + "\n"


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_table_is_exported_decided_and_imported(suffix: str, here: Here) -> None:
    at, _ = here("moody_and_markless")
    at.run("fill")
    file = at.root / f"review{suffix}"
    printed = at.run("review", "--export", str(file))
    if suffix == ".csv":
        with file.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
    else:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert f"{len(rows)} texts to look at" in printed
    assert "the translation lost the mark" in rows[0]["flags"]
    rows[0] |= {"decision": "accept", "reason": "it reads well", "author": "Ann"}
    write_review(file, rows)
    assert f"{LEDGER}: 1 decisions" in at.run("review", "--import", str(file))
    ledger = yaml.safe_load((at.root / LEDGER).read_text(encoding="utf-8"))
    place = {"record_id": rows[0]["record_id"], "field": "content"}
    assert ledger["reviews"] == [
        {**place, "decision": "accept", "reason": "it reads well", "author": "Ann"}
    ]
    # What was accepted does not come up again.
    printed = at.run("review", "--export", str(file))
    assert f"{len(rows) - 1} texts to look at" in printed


def test_a_corrected_text_replaces_the_kept_reply(here: Here) -> None:
    at = filled(here)
    before = replayed(at)
    question = read_questions(at.root / SAMPLED / "queries_raw.json")[-1]
    place = (question.question_id, "question")
    decide(at, decision(place, "correct", text="Շըաճ ${x} \\${y}?"))
    assert replayed(at) == before | {place: "Շըաճ ${x} \\${y}?"}


def test_a_corrected_document_keeps_the_answer_that_it_contains(here: Here) -> None:
    at = filled(here)
    before = replayed(at)
    question = read_questions(at.root / SAMPLED / "queries_raw.json")[0]
    place = (question.gold_doc_ids[0], "content")
    text = f"{encode('Well then, ')}{before[question.question_id, 'gold_answer']}."
    decide(at, decision(place, "correct", text=text))
    assert replayed(at) == before | {place: text}
    at.run("publish")
    assert replayed(at) == before | {place: text}


def test_a_text_that_was_sent_back_is_requested_again(here: Here) -> None:
    at, server = here()
    at.run("fill")
    at.run("publish")
    before = replayed(at)
    documents = read_documents(at.root / SAMPLED / "corpus_raw.json")
    document = next(d for d in documents if not d.is_gold and d.original_source == "hotpotqa")
    place = (document.doc_id, "content")
    for times in (1, 2):
        decide(at, decision(place, "retranslate"))
        printed = at.stage("translate", translate.main, code=1)
        assert "missing from the kept replies: 1 translations" in printed
        count = len(server.prompts())
        at.run("fill")
        assert asked(server.prompts()[count:]) == [("content", document.content)]
        (row,) = yaml.safe_load((at.root / LEDGER).read_text(encoding="utf-8"))["reviews"]
        assert row["times"] == times
        at.run("publish")
    assert replayed(at) == before


def test_an_answer_is_sent_back_together_with_its_document(here: Here) -> None:
    at, server = here()
    at.run("fill")
    at.run("publish")
    before = replayed(at)
    documents = {d.doc_id: d for d in read_documents(at.root / SAMPLED / "corpus_raw.json")}
    question = next(
        q
        for q in read_questions(at.root / SAMPLED / "queries_raw.json")
        if any(q.gold_answer in documents[i].content for i in q.gold_doc_ids)
        and q.source_dataset == "hotpotqa"
    )
    holding = [i for i in question.gold_doc_ids if question.gold_answer in documents[i].content]
    for _ in range(2):
        decide(at, decision((question.question_id, "gold_answer"), "retranslate"))
        count = len(server.prompts())
        at.run("fill")
        again = [text for _, text in asked(server.prompts()[count:])]
        assert [text.replace("⟦", "").replace("⟧", "") for text in again] == [
            documents[i].content for i in holding
        ]
        assert all("⟦" in text for text in again)
        at.run("publish")
    # The document gets a new key when it is sent back later.
    decide(at, decision((holding[0], "content"), "retranslate"))
    assert "kept replies: 1 translations" in at.stage("translate", translate.main, code=1)
    at.run("fill")
    at.run("publish")
    assert replayed(at) == before


def test_an_answer_from_the_glossary_that_was_sent_back_is_translated_by_itself(here: Here) -> None:
    at, server = here("moody_and_markless")
    at.run("fill")
    at.run("publish")
    documents = {d.doc_id: d for d in read_documents(at.root / SAMPLED / "corpus_raw.json")}
    ours = {row["record_id"] for row in at.rows() if row["field"] == "gold_answer"}
    question = next(
        q
        for q in read_questions(at.root / SAMPLED / "queries_raw.json")
        if any(q.gold_answer in documents[i].content for i in q.gold_doc_ids)
        and q.question_id not in ours
        and q.source_dataset == "hotpotqa"
    )
    decide(at, decision((question.question_id, "gold_answer"), "retranslate"))
    count = len(server.prompts())
    at.run("fill")
    assert ("gold_answer", question.gold_answer) in asked(server.prompts()[count:])


def test_accepting_a_new_translation_does_not_bring_the_old_one_back(here: Here) -> None:
    at = filled(here)
    documents = read_documents(at.root / SAMPLED / "corpus_raw.json")
    document = next(d for d in documents if not d.is_gold and d.original_source == "hotpotqa")
    place = (document.doc_id, "content")
    decide(at, decision(place, "retranslate"))
    at.run("fill")
    old, new = [row["key"] for row in at.rows() if row["record_id"] == document.doc_id]
    decide(at, decision(place, "accept"))
    at.run("publish")
    replayed(at)
    assert {old, new} <= {json.loads(line)["key"] for line in at.replies.split(b"\n") if line}
    (entry,) = yaml.safe_load((at.root / LEDGER).read_text(encoding="utf-8"))["reviews"]
    assert (entry["decision"], entry["times"]) == ("accept", 1)
    # The replay uses the new one: without it, the translation is missing.
    lines = [line for line in at.replies.split(b"\n") if new.encode() not in line]
    (at.root / MEMORY).write_bytes(b"\n".join(lines))
    assert "kept replies: 1 translations" in at.stage("translate", translate.main, code=1)


def test_a_second_decision_on_a_settled_text_is_refused_by_name(here: Here) -> None:
    at = filled(here)
    question = read_questions(at.root / SAMPLED / "queries_raw.json")[-1]
    place = (question.question_id, "question")
    decide(at, decision(place, "accept", author="Ann"))
    before = (at.root / LEDGER).read_bytes()
    for other in (decision(place, "retranslate"), decision(place, "correct", text="誰？")):
        printed = decide(at, other, code=1)
        assert (
            f"question of {place[0]} is decided in the ledger already (accept, by Ann)" in printed
        )
        assert (at.root / LEDGER).read_bytes() == before
    decide(at, decision(place, "accept", author="Ann"))


def test_an_accepted_finding_does_not_stop_the_pipeline(here: Here) -> None:
    at = filled(here)
    question = read_questions(at.root / SAMPLED / "queries_raw.json")[-1]
    place = (question.question_id, "question")
    wrong = "Դըե ղաչ կզ ճկմեխծգ."
    decide(at, decision(place, "correct", text=wrong, reason="a riddle"))
    replayed(at)
    printed = at.stage("verify", verify.main)
    assert f"accepted: question_mood: {question.question_id}" in printed
    assert "(a riddle)" in printed
    (at.root / LEDGER).write_text(
        (at.root / LEDGER).read_text().replace("decision: correct", "decision: accept")
    )
    # Now the model's text is accepted; the corrected text and its finding are gone.
    assert replayed(at)[place] == encode(question.question)
    assert "question_mood" not in at.stage("verify", verify.main)


# ----------------------------------------------------------------------------- tables


def test_no_cell_is_a_formula(here: Here) -> None:
    at, server = here("formula")
    printed = at.run("fill", code=1)
    assert "failed: " in printed
    file = at.root / "f.csv"
    at.run("review", "--export", str(file))
    with file.open(encoding="utf-8", newline="") as stream:
        cells = [cell for row in csv.reader(stream) for cell in row]
    assert '\'=HYPERLINK("x")' in cells
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    documents = read_documents(at.root / SAMPLED / "corpus_raw.json")
    place = (documents[0].doc_id, "content")
    write_review(file, [dict.fromkeys(COLUMNS, "") | decision(place, "correct", text="=1+1")])
    assert ",'=1+1," in file.read_text(encoding="utf-8")
    assert read_decisions(file, {place})[0].text == "=1+1"
    assert server.stats()["requests"] > 0


PLACES = {("q1", "question")}


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_table_saved_by_a_spreadsheet_is_read(delimiter: str, tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    cells = ["q1", "question", "", "a flag", "Who?", "誰", "correct", "誰寫的？\n再說", "", ""]
    with file.open("w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream, delimiter=delimiter).writerows([COLUMNS, cells])
    (found,) = read_decisions(file, PLACES)
    assert (found.decision, found.text) == ("correct", "誰寫的？\n再說")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("q1", "question", "approve", "")], "row 2.decision: Input should be"),
        ([("q1", "title", "accept", "")], "row 2.field: Input should be"),
        ([("q1", "question", "correct", "\u3000\ufeff\u200b")], "row 2: .*its text is empty"),
        ([("q9", "question", "accept", "")], "row 2: no text question of q9 is translated"),
        ([("q1", "content", "accept", "")], "row 2: no text content of q1 is translated"),
        (
            [("q1", "question", "accept", ""), ("q1", "question", "correct", "Who?")],
            "row 3: a row above has another decision on question of q1",
        ),
    ],
)
def test_a_wrong_decision_is_refused_with_its_row(
    rows: list[tuple[str, str, str, str]], message: str, tmp_path: Path
) -> None:
    file = tmp_path / "f.csv"
    empty = dict.fromkeys(COLUMNS, "")
    write_review(file, [empty | decision(row[:2], row[2], text=row[3]) for row in rows])
    with pytest.raises(ConfigurationError, match=message):
        read_decisions(file, PLACES)


def test_rows_without_a_decision_and_equal_decisions_are_accepted(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    empty = dict.fromkeys(COLUMNS, "")
    accepted = empty | decision(("q1", "question"), "accept")
    write_review(file, [accepted, empty | {"record_id": "q1", "field": "question"}, accepted])
    assert len(read_decisions(file, PLACES)) == 1


def test_a_file_that_is_not_a_table_is_refused(here: Here) -> None:
    at, _ = here()
    file = at.root / "f.csv"
    file.write_text("record_id,field\nq1,question\n", encoding="utf-8")
    message = at.run("review", "--import", str(file), code=1)
    assert "row 2: lacks decision, text, reason, author" in message
    assert not (at.root / LEDGER).exists()
