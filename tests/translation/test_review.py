"""What is doubtful goes out as a table, and a person's decisions come back into the ledger."""

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


def decision(place: tuple[str, str], said: str, **more: str) -> dict[str, str]:
    return {"record_id": place[0], "field": place[1], "decision": said, **more}


def filled(here: Here, behaviour: str = "faithful") -> Desk:
    at, _ = here(behaviour)
    at.run("fill")
    at.run("publish")
    return at


def replayed(at: Desk) -> dict[tuple[str, str], str]:
    at.stage("translate", translate.main)
    return {place: after for place, (_, after) in at.texts().items()}


def test_a_clean_benchmark_has_nothing_to_review(here: Here) -> None:
    at = filled(here)
    assert "0 texts to look at" in at.run("review", "--export", str(at.root / "f.csv"))
    assert (at.root / "f.csv").read_text() == ",".join(COLUMNS) + "\n"


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_table_goes_out_is_decided_and_comes_back(suffix: str, here: Here) -> None:
    at, _ = here("moody_and_markless")
    at.run("fill")
    file = at.root / f"review{suffix}"
    told = at.run("review", "--export", str(file))
    if suffix == ".csv":
        with file.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
    else:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert f"{len(rows)} texts to look at" in told
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
    told = at.run("review", "--export", str(file))
    assert f"{len(rows) - 1} texts to look at" in told


def test_a_corrected_text_goes_before_the_memory(here: Here) -> None:
    at = filled(here)
    before = replayed(at)
    question = read_questions(at.root / SAMPLED / "queries_raw.json")[-1]
    place = (question.question_id, "question")
    decide(at, decision(place, "correct", text="Շըաճ ${x} \\${y}?"))
    assert replayed(at) == before | {place: "Շըաճ ${x} \\${y}?"}


def test_a_corrected_document_keeps_the_answer_that_stands_in_it(here: Here) -> None:
    at = filled(here)
    before = replayed(at)
    question = read_questions(at.root / SAMPLED / "queries_raw.json")[0]
    place = (question.gold_doc_ids[0], "content")
    text = f"{encode('Well then, ')}{before[question.question_id, 'gold_answer']}."
    decide(at, decision(place, "correct", text=text))
    assert replayed(at) == before | {place: text}
    at.run("publish")
    assert replayed(at) == before | {place: text}


def test_a_text_sent_back_alone_is_asked_for_again(here: Here) -> None:
    at, server = here()
    at.run("fill")
    at.run("publish")
    before = replayed(at)
    documents = read_documents(at.root / SAMPLED / "corpus_raw.json")
    document = next(d for d in documents if not d.is_gold and d.original_source == "hotpotqa")
    place = (document.doc_id, "content")
    for times in (1, 2):
        decide(at, decision(place, "retranslate"))
        told = at.stage("translate", translate.main, code=1)
        assert "the memory lacks 1 translations" in told
        count = len(server.prompts())
        at.run("fill")
        assert asked(server.prompts()[count:]) == [("content", document.content)]
        (row,) = yaml.safe_load((at.root / LEDGER).read_text(encoding="utf-8"))["reviews"]
        assert row["times"] == times
        at.run("publish")
    assert replayed(at) == before


def test_an_answer_sent_back_takes_the_document_with_it_that_it_is_read_from(here: Here) -> None:
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
    # The document itself, sent back after that, gets a key that it never had.
    decide(at, decision((holding[0], "content"), "retranslate"))
    assert "lacks 1 translations" in at.stage("translate", translate.main, code=1)
    at.run("fill")
    at.run("publish")
    assert replayed(at) == before


def test_an_answer_sent_back_that_the_glossary_gave_is_asked_for_by_itself(here: Here) -> None:
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
    assert {old, new} <= {json.loads(line)["key"] for line in at.memory.split(b"\n") if line}
    (entry,) = yaml.safe_load((at.root / LEDGER).read_text(encoding="utf-8"))["reviews"]
    assert (entry["decision"], entry["times"]) == ("accept", 1)
    # The new one is what replay uses: without it, it is missing.
    lines = [line for line in at.memory.split(b"\n") if new.encode() not in line]
    (at.root / MEMORY).write_bytes(b"\n".join(lines))
    assert "lacks 1 translations" in at.stage("translate", translate.main, code=1)


def test_a_second_decision_on_a_settled_text_is_refused_by_name(here: Here) -> None:
    """It silently won."""
    at = filled(here)
    question = read_questions(at.root / SAMPLED / "queries_raw.json")[-1]
    place = (question.question_id, "question")
    decide(at, decision(place, "accept", author="Ann"))
    before = (at.root / LEDGER).read_bytes()
    for other in (decision(place, "retranslate"), decision(place, "correct", text="誰？")):
        told = decide(at, other, code=1)
        assert f"question of {place[0]} is decided in the ledger already (accept, by Ann)" in told
        assert (at.root / LEDGER).read_bytes() == before
    decide(at, decision(place, "accept", author="Ann"))


def test_an_accepted_finding_stops_nobody(here: Here) -> None:
    at = filled(here)
    question = read_questions(at.root / SAMPLED / "queries_raw.json")[-1]
    place = (question.question_id, "question")
    wrong = "Դըե ղաչ կզ ճկմեխծգ."
    decide(at, decision(place, "correct", text=wrong, reason="a riddle"))
    replayed(at)
    told = at.stage("verify", verify.main)
    assert f"accepted: question_mood: {question.question_id}" in told
    assert "(a riddle)" in told
    (at.root / LEDGER).write_text(
        (at.root / LEDGER).read_text().replace("decision: correct", "decision: accept")
    )
    # Accepted is what the model said; the corrected text is gone, and with it the finding.
    assert replayed(at)[place] == encode(question.question)
    assert "question_mood" not in at.stage("verify", verify.main)


# ----------------------------------------------------------------------------- tables


def test_no_cell_is_a_formula(here: Here) -> None:
    at, server = here("formula")
    told = at.run("fill", code=1)
    assert "failed: " in told
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


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_table_that_a_spreadsheet_saved_is_read(delimiter: str, tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    cells = ["q1", "question", "", "a flag", "Who?", "誰", "correct", "誰寫的？\n再說", "", ""]
    with file.open("w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream, delimiter=delimiter).writerows([COLUMNS, cells])
    (found,) = read_decisions(file, {("q1", "question")})
    assert (found.decision, found.text) == ("correct", "誰寫的？\n再說")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("q1", "question", "approve", ""), "row 2.decision: Input should be"),
        (("q1", "title", "accept", ""), "row 2.field: Input should be"),
        (("q1", "question", "correct", " "), "row 2: .*its text is empty"),
        (("q9", "question", "accept", ""), "row 2: no text question of q9 is translated"),
        (("q1", "content", "accept", ""), "row 2: no text content of q1 is translated"),
    ],
)
def test_a_wrong_decision_is_named_by_its_row(
    row: tuple[str, str, str, str], message: str, here: Here
) -> None:
    at, _ = here()
    question = read_questions(at.root / SAMPLED / "queries_raw.json")[0].question_id
    record_id = question if row[0] == "q1" else row[0]
    told = decide(at, decision((record_id, row[1]), row[2], text=row[3]), code=1)
    expected = message.replace("q1", question).split(".*")
    assert all(part in told for part in expected), told
    assert not (at.root / LEDGER).exists()


def test_two_rows_that_decide_differently_on_one_text_are_refused(tmp_path: Path) -> None:
    file, place = tmp_path / "f.csv", ("q1", "question")
    empty = dict.fromkeys(COLUMNS, "")
    accepted = empty | decision(place, "accept")
    write_review(file, [accepted, empty | {"record_id": "q1", "field": "question"}, accepted])
    assert len(read_decisions(file, {place})) == 1
    write_review(file, [accepted, empty | decision(place, "correct", text="Who?")])
    with pytest.raises(ConfigurationError, match="row 3: question of q1 is decided otherwise"):
        read_decisions(file, {place})


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\u3000\ufeff"])
def test_a_correction_that_nobody_sees_is_none(text: str, tmp_path: Path) -> None:
    file, place = tmp_path / "f.jsonl", ("q1", "question")
    write_review(file, [dict.fromkeys(COLUMNS, "") | decision(place, "correct", text=text)])
    with pytest.raises(ConfigurationError, match="its text is empty"):
        read_decisions(file, {place})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("record_id,field\nq1,question\n", "row 2: lacks decision, text, reason, author"),
        (
            ",".join(COLUMNS) + "\n" + ",".join("123456789xy") + "\n",
            "line 2: 11 cells, expected 10",
        ),
        (",".join(COLUMNS) + '\n"q1', "not valid CSV"),
    ],
)
def test_a_file_that_is_no_table_is_refused(text: str, message: str, here: Here) -> None:
    at, _ = here()
    file = at.root / "f.csv"
    file.write_text(text, encoding="utf-8")
    assert message in at.run("review", "--import", str(file), code=1)
    assert "none.csv: no such file" in at.run("review", "--import", "none.csv", code=1)
