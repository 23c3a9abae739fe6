"""The audit: documents that may answer too, near duplicates, and decisions about them."""

from __future__ import annotations

import csv
import json
import random
from contextlib import chdir
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bears.cli import main
from bears.config import Config, compose
from bears.config.ledger.entries import PairDecision
from bears.config.typed import build, parse
from bears.files.records import read_documents, read_json, read_questions
from bears.quality.audit.audit import Audit, audit, summarize
from bears.quality.audit.audit_pool import AuditPool, AuditSettings, Sought
from bears.retrieval.retriever import Query, Stopwatch
from bears.retrieval.sparse.bm25 import BM25Searcher
from bears.types import Document, Question
from stages import audit as stage
from stages import evaluate, index, retrieve, rewrite, translate, verify
from tests.desk import Desk, Here, here
from tests.sampled import CHOICES
from tests.workspace import ROOT

__all__ = ["here"]

LANGUAGES = {"s": "en", "drcd": "zh-Hant-TW", "hotpotqa": "en", "2wiki": "en"}


@cache
def configured() -> Config:
    config: Config = compose(ROOT / "conf", {"benchmark": "mini", **CHOICES})["audit"]
    return config


SETTINGS = parse(AuditSettings, configured()["signals"], "audit.signals")


def test_an_answer_stands_in_a_text_in_any_of_its_forms() -> None:
    sought = Sought((" ten ", " 10 "), weak=True)
    assert [sought.stands_in(text) for text in (" 10 men ", " ten men ", " 110 men ")] == [
        *(True, True, False)
    ]
    text = "It began. Then came 10 men. They left. Nobody saw them."
    assert sought.around(text, 0).strip() == "Then came 10 men."
    assert sought.around(text, 1).strip() == "It began. Then came 10 men. They left."


def audited(
    questions: list[Question],
    documents: list[Document],
    folder: Path,
    language: str = "en",
    raw: tuple[list[Question], list[Document]] | None = None,
    judgements: tuple[PairDecision, ...] = (),
) -> Audit:
    retriever = build({**configured()["retriever"], "language": language}, "audit.retriever")
    retriever.index(documents, folder, folder)
    searcher: BM25Searcher = retriever.open(folder)
    before = raw or (questions, documents)
    pool = AuditPool(questions, documents, *before, searcher.weights, LANGUAGES, language)
    found = searcher.search([Query(q.question) for q in questions], SETTINGS.depth, Stopwatch())
    rankings = {
        question.question_id: [hit.doc_id for hit in ranking]
        for question, ranking in zip(questions, found, strict=True)
    }
    result = audit(pool, rankings, SETTINGS, judgements)
    assert summarize(result, result.findings, pool)["candidates"] == len(result.candidates)
    return result


def document(doc_id: str, content: str) -> Document:
    return Document(doc_id, content, "s", doc_id, False)


_RNG = random.Random(0)
FILLER = [
    document(f"filler{i}", " ".join("".join(_RNG.choices("aeioulmnrst", k=7)) for _ in range(12)))
    for i in range(30)
]
ASKED = Question(
    "q1", "Which bridge did Anna Lindqvist design in Malmo?", "Tallow Bridge", ("gold",), "s",
    "single-hop",
)  # fmt: skip
GOLD = document("gold", "Anna Lindqvist was an engineer. In Malmo she designed Tallow Bridge.")
SECOND = document(
    "second", "Tallow Bridge in Malmo, a bridge of 1911, is a design of Anna Lindqvist."
)


def pairs(found: Audit) -> list[tuple[str, str]]:
    return [(one.question_id, one.doc_id) for one in found.candidates]


def test_a_second_document_that_answers_as_the_gold_does_is_found(tmp_path: Path) -> None:
    found = audited([ASKED], [GOLD, SECOND, *FILLER], tmp_path)
    assert pairs(found) == [("q1", "second")]
    signals = found.candidates[0].signals
    assert (signals["answer"], signals["instead_of"]) == ("whole", "gold")


@pytest.mark.parametrize(
    ("question", "second"),
    [
        # The answer is missing, or is a part of another word.
        (ASKED, "Mallow Bridge in Malmo is a bridge of the design of Anna Lindqvist."),
        (replace(ASKED, gold_answer="all"), SECOND.content),
        # It says nothing about the question.
        (ASKED, "Tallow Bridge was painted red."),
        # A yes or a no; an answer that the question offers.
        (replace(ASKED, gold_answer="yes"), SECOND.content + " Yes."),
        (
            replace(ASKED, question=f"{ASKED.question[:-1]}, Tallow Bridge or Ox Bridge?"),
            SECOND.content,
        ),
        # It is not known what answers it.
        (replace(ASKED, gold_doc_ids=(), judged=False), SECOND.content),
    ],
)
def test_a_document_that_lacks_one_signal_is_not_a_candidate(
    question: Question, second: str, tmp_path: Path
) -> None:
    documents = [GOLD, document("second", second), *FILLER]
    assert pairs(audited([question], documents, tmp_path)) == []


def test_the_parts_of_a_name_may_change_places(tmp_path: Path) -> None:
    question = "瑪格麗特·安茹女伯爵1272年出生，她的丈夫是誰？"
    asked = Question("q1", question, "查理", ("gold",), "drcd", "single-hop")
    gold = document("gold", "瑪格麗特·安茹女伯爵生於西元1272年，她的丈夫是查理。")
    second = document("second", "安茹女伯爵瑪格麗特（1272－1299），她的丈夫是查理。")
    found = audited([asked], [gold, second, *FILLER], tmp_path, "zh-Hant-TW")
    assert pairs(found) == [("q1", "second")]


def test_a_number_alone_is_no_evidence_and_one_that_comes_with_all_the_rest_is(
    tmp_path: Path,
) -> None:
    asked = replace(
        ASKED, question="When was Tallow Bridge in Malmo opened by the king?", gold_answer="1911"
    )
    gold = document("gold", "The king opened Tallow Bridge in Malmo in 1911.")
    part = document("part", "Tallow Bridge in Malmo was sold in 1911.")
    whole = document("whole", "In Malmo, Tallow Bridge was opened by the king in 1911, in June.")
    assert pairs(audited([asked], [gold, part, whole, *FILLER], tmp_path)) == [("q1", "whole")]


def test_for_a_number_only_the_very_first_documents_are_looked_at(tmp_path: Path) -> None:
    asked = replace(ASKED, question="When did the king open Tallow Bridge?", gold_answer="1911")
    gold = document("gold", "The king opened Tallow Bridge in Malmo in 1911.")
    others = [
        document(f"o{i}", f"{one.content} The king did open Tallow Bridge in 1911. {one.content}")
        for i, one in enumerate(FILLER[:6])
    ]
    found = audited([asked], [gold, *others, *FILLER[6:]], tmp_path)
    ranks = [one.signals["rank"] for one in found.candidates]
    assert len(ranks) >= 2
    assert all(isinstance(rank, int) and rank <= 3 for rank in ranks)


def test_a_stub_within_a_long_page_is_a_duplicate_and_a_page_of_the_same_form_is_not(
    tmp_path: Path,
) -> None:
    stub = "Keene is an unincorporated community in Wabaunsee County, Kansas, in the United States."
    asked = replace(ASKED, question="In which county is Keene?", gold_answer="Wabaunsee County")
    documents = [
        document("gold", stub),
        document("long", f"Of places. {stub} {' '.join(d.content for d in FILLER[:8])}"),
        document("form", stub.replace("Keene", "Brad")),
        document("same", stub.upper().replace(",", ";")),
        *FILLER,
    ]
    found = audited([asked], documents, tmp_path)
    like_gold = {c.doc_id: c.signals.get("near_duplicate_of") for c in found.candidates}
    assert like_gold == {"long": "gold", "same": "gold"}
    checks = {(f.check, f.record_id) for f in found.findings}
    assert {("duplicate_document", "same"), ("near_duplicate", "gold")} <= checks


def test_odd_questions_and_gold_are_found_and_sound_ones_are_not(tmp_path: Path) -> None:
    hop = document("hop", "The Ox Bridge of Lund, a bridge by Anna Lindqvist, has one arch.")
    other = document("other", "Lund is a town; Ox Bridge is there.")
    held = "who painted the very old wooden gate of the upper harbour"
    questions = [
        ASKED,
        replace(ASKED, question_id="again", question=ASKED.question.upper()),
        replace(ASKED, question_id="blank", question="…?"),
        replace(ASKED, question_id="long", question=f"{'really ' * 70}which bridge?"),
        replace(ASKED, question_id="lost", question="Which bridge?", gold_answer="Iron Bridge"),
        replace(ASKED, question_id="held", question=f"{held}?"),
        Question(
            "one", "Which bridge of Lund by Anna Lindqvist has one arch?", "Ox Bridge",
            ("hop", "other"), "s", "multi-hop",
        ),
    ]  # fmt: skip
    documents = [GOLD, hop, other, document("page", f"FAQ: {held}? Ann did."), *FILLER]
    found = audited(questions, documents, tmp_path)
    assert [(f.check, f.severity, f.record_id) for f in found.findings] == [
        ("question_repeated", "warning", "again"),
        ("question_without_words", "warning", "blank"),
        ("question_too_long", "warning", "long"),
        ("answer_in_no_gold", "warning", "lost"),
        ("one_document_suffices", "warning", "one"),
        ("question_in_document", "warning", "held"),
    ]


def test_a_document_that_contains_the_question_only_after_translation_is_an_error(
    tmp_path: Path,
) -> None:
    held = "who painted the very old wooden gate of the upper harbour"
    asked = replace(ASKED, question=f"{held}?", gold_answer="Ann")
    page = document("page", f"{held}? Ann did.")
    before = ([replace(asked, question="wer malte das Tor?")], [document("page", "Das Tor.")])
    found = audited([asked], [page, *FILLER], tmp_path, raw=before)
    assert [(f.check, f.severity) for f in found.findings] == [("question_leaked", "error")]


def test_a_decision_is_shown_with_its_candidate(tmp_path: Path) -> None:
    judgements = (PairDecision("q1", "second", "partial"), PairDecision("q1", "lost", "not"))
    found = audited([ASKED], [GOLD, SECOND, *FILLER], tmp_path, judgements=judgements)
    assert [one.decision for one in found.candidates] == ["partial"]
    assert not found.findings


def through_evaluate(at: Desk) -> str:
    programs = {"audit": stage, "index": index, "rewrite": rewrite, "retrieve": retrieve}
    for name, program in {**programs, "evaluate": evaluate}.items():
        printed = at.stage(name, program.main)
    return printed


@pytest.mark.slow
def test_evaluate_leads_with_decisions_and_keeps_the_values_on_the_sources_gold(here: Here) -> None:
    at, _ = here("good")
    at.run("fill")
    at.run("publish")
    at.stage("translate", translate.main)
    at.stage("verify", verify.main)
    through_evaluate(at)
    metrics = at.root / "metrics"
    published = read_json(metrics / "retrieval.json")
    assert "source" not in published
    run = (at.root / "data/mini/runs/bm25.trec").read_text(encoding="utf-8").splitlines()
    question_id, _, doc_id = run[0].split()[:3]
    file = at.root / "judged.csv"
    file.write_text(
        "record_id,doc_id,decision,reason,author\n"
        f"{question_id},{doc_id},not,it does not say so,Ann\n",
        encoding="utf-8",
    )
    with chdir(at.root):
        assert main(["judgements", "import", str(file), "--benchmark", "mini"]) == 0
    assert "source gold" in (printed := through_evaluate(at))
    assert "8 questions, 1 decision of people" in printed
    after: dict[str, Any] = read_json(metrics / "retrieval.json")
    counts = {"answered": published["all"]["answered"]}
    assert {**after["source"], **counts} == published["all"]
    assert after["benchmark"]["state"] != published["benchmark"]["state"]
    assert after["benchmark"]["decisions"] == 1
    assert after["source"]["ndcg@10"] != after["all"]["ndcg@10"]
    with (at.root / "data/mini/runs/bm25.questions.csv").open(encoding="utf-8") as stream:
        values = {row["question_id"]: row for row in csv.DictReader(stream)}
    changed = {i for i, row in values.items() if row["ndcg@10"] != row["source ndcg@10"]}
    assert changed == {question_id}
    before = {p.name: p.read_bytes() for p in (at.root / "data/mini/audited").iterdir()}
    at.stage("audit", stage.main)
    assert {p.name: p.read_bytes() for p in (at.root / "data/mini/audited").iterdir()} == before


@pytest.mark.slow
def test_true_candidates_of_the_published_bears_are_found(
    shared_data: Path, tmp_path: Path
) -> None:
    folder = shared_data / "bears-published"
    found = audited(
        read_questions(folder / "queries.json"),
        read_documents(folder / "corpus.json"),
        tmp_path,
        "zh-Hant-TW",
        (read_questions(folder / "queries_raw.json"), read_documents(folder / "corpus_raw.json")),
    )
    named = {("3832dedc", "38a1eae4"), ("700a8734", "9fc17340"), ("80526dcf", "4cbcafeb")}
    short = {(question_id[:8], doc_id[:8]) for question_id, doc_id in pairs(found)}
    assert named <= short
    # Plain containment of the answer in the top ten finds 14.
    assert len(short) <= 10
    assert json.dumps([one.signals for one in found.candidates])
