"""Corrections of single fields: applied where they fit, refused where they do not."""

from __future__ import annotations

import multiprocessing
import random
from pathlib import Path

import pytest

from bears.config.ledger.entries import (
    Acceptance,
    Edit,
    LabelDraw,
    Ledger,
    PairDecision,
    Replacement,
    accept,
)
from bears.config.ledger.update import OpenLedger, open_ledger
from bears.errors import LedgerError
from bears.files.intake.yaml_text import yaml_value
from bears.sampling.mixture import Quota, Recipe
from bears.sampling.sample import apply_edits
from bears.sources.parts import RowRecords, passage_document, passage_question
from bears.types import Document, Finding, ParagraphPlace, Question
from tests.sampled import draw

QUESTIONS = [
    Question("q1", "Who wrot it?", "Ann", ("d1",), "hop", "multi-hop"),
    Question("q2", "When?", "1990", ("d2",), "hop", "multi-hop"),
]
DOCUMENTS = [
    Document("d1", "Ann wrote it.", "hop", "a", True),
    Document("d2", "It was in 1990.", "hop", "b", True),
]
TYPO = Edit("q1", "question", "Who wrot it?", "Who wrote it?", "typing error")


def test_edits_of_every_field_apply_in_any_order() -> None:
    edits = [
        TYPO,
        Edit("q1", "gold_answer", "Ann", "Anne", "her name"),
        Edit("d1", "content", "Ann wrote it.", "Anne wrote it.", "her name"),
    ]
    rng = random.Random(0)
    for _ in range(6):
        rng.shuffle(edits)
        questions, documents, unused = apply_edits(QUESTIONS, DOCUMENTS, edits)
        assert (questions[0].question, questions[0].gold_answer) == ("Who wrote it?", "Anne")
        assert documents[0].content == "Anne wrote it."
        assert (questions[1], documents[1], unused) == (QUESTIONS[1], DOCUMENTS[1], [])


def test_an_edit_of_a_text_that_has_changed_is_refused() -> None:
    stale = Edit("q1", "question", "Who wrote it", "Who wrote it?", "question mark")
    with pytest.raises(LedgerError, match=r"question of q1 is 'Who wrot it\?', but the edit"):
        apply_edits(QUESTIONS, DOCUMENTS, [stale])


def paragraphs(source: str) -> RowRecords:
    return [
        record
        for n in range(12)
        for record in (
            passage_document(source, f"p{n}", f"text {n}"),
            passage_question(
                source,
                f"q{n}",
                f"q {n}?",
                ("yes",),
                "single-hop",
                (ParagraphPlace(f"q{n}", n, True),),
            ),
        )
    ]


def test_a_sample_applies_edits_after_replacements_and_reports_the_rest() -> None:
    rows = [paragraphs]
    mixture = Recipe(3, 5, (Quota("read", 2),), ("read",))
    first = draw(mixture, {"read": rows}, Ledger())
    gone = Replacement(first.questions[0].question_id, "unclear")
    replaced = draw(mixture, {"read": rows}, Ledger(replacements=(gone,)))
    asked = replaced.questions[0]
    gold = next(d for d in replaced.documents if d.doc_id == asked.gold_doc_ids[0])
    ledger = Ledger(
        replacements=(gone, Replacement("zzz", "unknown")),
        edits=(
            Edit(asked.question_id, "gold_answer", "yes", "Yes.", "house style"),
            Edit(gold.doc_id, "content", gold.content, "mended", "a hole in the text"),
            Edit(first.questions[0].question_id, "question", "q?", "Q?", "of a replaced question"),
            Edit("aaa", "content", "a", "b", "unknown"),
        ),
    )
    drawn = draw(mixture, {"read": rows}, ledger)
    assert drawn.questions[0].gold_answer == "Yes."
    assert drawn.questions[1:] == first.questions[1:]
    assert [d.content for d in drawn.documents if d.doc_id == gold.doc_id] == ["mended"]
    assert drawn.notes["unmatched_ledger_entries"] == [
        "zzz",
        *sorted(["aaa", first.questions[0].question_id]),
    ]
    assert drawn.lineage == replaced.lineage


def replaced(path: Path, entry: Replacement) -> None:
    with open_ledger(path) as ledger:
        ledger.add("replacements", [entry])


def test_twelve_who_add_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger" / "mini.yaml"
    context = multiprocessing.get_context("fork")
    entries = [Replacement(f"q{n:02}", "unclear") for n in range(12)]
    writers = [context.Process(target=replaced, args=(path, entry)) for entry in entries]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 12
    assert yaml_value(path)["replacements"] == [
        {"question_id": each.question_id, "reason": "unclear"} for each in entries
    ]
    assert [file.name for file in path.parent.iterdir()] == ["mini.yaml"]


def label(author: str, grade: int) -> LabelDraw:
    return LabelDraw("a b", 1, "q1", 1.0, 1.0, {author: (grade,)}, "d1", {author: f"by {author}"})


@pytest.mark.parametrize("author", ["ann", "bo"])
def test_one_decision_counts_for_a_document_and_each_persons_label_for_itself(
    author: str, tmp_path: Path
) -> None:
    path = tmp_path / "mini.yaml"
    with open_ledger(path) as ledger:
        ledger.take(
            "judgements", [PairDecision("q1", "d1", "relevant", author="ann")], path, "", False
        )
        ledger.take("labels", [label("ann", 1)], path, "", False)
    with open_ledger(path) as ledger, pytest.raises(LedgerError, match="relevant and is not"):
        ledger.take("judgements", [PairDecision("q1", "d1", "not", author=author)], path, "", False)
    with open_ledger(path) as ledger:
        if author == "ann":
            with pytest.raises(LedgerError, match="by ann, which was 1 and is 0"):
                ledger.take("labels", [label(author, 0)], path, "", False)
        else:
            ledger.take("labels", [label(author, 0)], path, "", False)
    [kept] = OpenLedger(path).decisions.labels
    assert kept.labels == {"ann": (1,)} | {author: (1,) if author == "ann" else (0,)}
    assert kept.reasons == {name: f"by {name}" for name in {"ann", author}}


def test_a_finding_is_accepted_by_its_check_record_and_field() -> None:
    finding = Finding("empty", "error", "q1", "content is empty", "question")
    entries = {
        Acceptance("empty", "q1", "known"): True,
        Acceptance("empty", "*", "known"): True,
        Acceptance("empty", "q1", "known", "question"): True,
        Acceptance("empty", "q1", "known", "answer"): False,
        Acceptance("empty", "q2", "known"): False,
        Acceptance("same", "q1", "known"): False,
    }
    for entry, accepted in entries.items():
        (found,) = accept([finding], [entry])
        assert (found.severity == "accepted") == accepted
        assert ("(known)" in found.message) == accepted
