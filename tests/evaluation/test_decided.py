"""Decisions of people in the gold, and how much of a run is judged."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import ir_measures
import pytest
import pytrec_eval

from bears.config.ledger.entries import Ledger, PairDecision
from bears.config.ledger.update import open_ledger
from bears.config.typed import parse
from bears.errors import ConfigurationError
from bears.evaluation.decided import decided, judged_share
from bears.evaluation.evaluate import evaluate, gold_of
from bears.files.benchmark_state import records_digest
from bears.files.intake.yaml_text import yaml_value
from bears.files.records import digest_of
from bears.results.pool import read_judgements
from bears.types import Document, Hit, Question, Span
from tests.measuring import as_scores, measures, table_of_run


def question(question_id: str, *gold: str, judged: bool = True) -> Question:
    return Question(question_id, "who?", "Ann", gold, "s", "multi-hop", judged=judged)


def drawn(seed: int) -> tuple[list[Question], list[PairDecision], dict[str, tuple[Hit, ...]]]:
    """Questions that keep a gold document, any decisions on other ones, and a run."""
    rng = random.Random(seed)
    docs = [f"d{i:02}" for i in range(30)]
    questions = [question(f"q{i}", *rng.sample(docs, 2)) for i in range(8)]
    judgements = [
        PairDecision(one.question_id, doc_id, rng.choice(["relevant", "partial", "not"]))
        for one in questions
        for doc_id in rng.sample(sorted({*docs} - {one.gold_doc_ids[0]}), 6)
    ]
    run = {
        one.question_id: tuple(Hit(d, float(-i)) for i, d in enumerate(rng.sample(docs, 20)))
        for one in questions
    }
    return questions, judgements, run


@pytest.mark.parametrize("seed", range(5))
def test_trec_eval_measures_the_decided_gold_alike(seed: int) -> None:
    questions, judgements, run = drawn(seed)
    grades = {one.question_id: dict.fromkeys(one.gold_doc_ids, 2) for one in questions}
    for one in judgements:
        grades[one.question_id][one.doc_id] = {"relevant": 2, "partial": 1, "not": 0}[one.decision]
    found = decided(
        questions, texts(hit.doc_id for hits in run.values() for hit in hits), judgements
    )
    names = {"ndcg@10": "ndcg_cut_10", "map": "map", "recall@5": "recall_5", "mrr": "recip_rank"}
    ours = evaluate(table_of_run(run), found.gold, measures(*names))
    for level, chosen in ((1, ["ndcg@10"]), (2, ["map", "recall@5", "mrr"])):
        theirs = pytrec_eval.RelevanceEvaluator(
            grades, {names[name] for name in chosen}, relevance_level=level
        ).evaluate(as_scores(run))
        for name in chosen:
            expected = [theirs[one.question_id][names[name]] for one in questions]
            assert ours.values[name].tolist() == pytest.approx(expected)


def texts(doc_ids: Iterable[str]) -> dict[str, str]:
    return dict.fromkeys(doc_ids, "text")


@pytest.mark.parametrize("seed", range(3))
def test_judged_at_ten_is_that_of_ir_measures(seed: int) -> None:
    questions, judgements, run = drawn(seed)
    found = decided(
        questions, texts(hit.doc_id for hits in run.values() for hit in hits), judgements
    )
    qrels = {q: dict.fromkeys(ids, 1) for q, ids in found.judged.items()}
    share = judged_share(table_of_run(run), found.judged)
    theirs = ir_measures.calc_aggregate([ir_measures.Judged @ 10], qrels, as_scores(run))
    assert share["judged@10"] == pytest.approx(theirs[ir_measures.Judged @ 10])
    unjudged = [d for q, hits in run.items() for d, _ in hits[:10] if d not in qrels[q]]
    assert share["unjudged@10"] == len(unjudged)


def test_decisions_that_say_nothing_new_leave_every_measure_as_it_was() -> None:
    questions = drawn(7)[0]
    confirmed = [
        PairDecision(q.question_id, d, "relevant") for q in questions for d in q.gold_doc_ids
    ]
    found = decided(questions, texts(one.doc_id for one in confirmed), confirmed)
    assert found.questions == questions
    assert found.gold == gold_of(questions)
    assert found.judged == {q.question_id: set(q.gold_doc_ids) for q in questions}


def test_who_decided_and_in_which_order_is_no_other_state_of_a_benchmark() -> None:
    questions, judgements, run = drawn(3)
    contents = texts(hit.doc_id for hits in run.values() for hit in hits)
    facts = decided(questions, contents, judgements).facts
    others = [replace(one, author="Bob", reason="why") for one in reversed(judgements)]
    assert decided(questions, contents, others).facts == facts
    digests = [records_digest("q", "c", each) for each in ((), facts, facts[:-1])]
    assert len(set(digests)) == 3
    assert digests[0] == digest_of({"queries": "q", "corpus": "c"})


PAGE = "Bees dance. They make honey. Wasps do not."


def test_a_document_is_as_relevant_as_its_best_passage_and_relevant_passages_are_spans() -> None:
    gold = Span("page", 0, 11, "Bees dance.")
    asked = replace(question("q", "page"), gold_spans=(gold,))
    judgements = [
        PairDecision("q", "page", "not", quotation="Wasps do not."),
        PairDecision("q", "page", "relevant", quotation="They make\nHONEY"),
        PairDecision("q", "other", "not", quotation="Bees dance."),
        PairDecision("q", "other", "partial", quotation="honey"),
        PairDecision("q", "page", "relevant", quotation="Hornets sting."),
    ]
    found = decided([asked], {"page": PAGE, "other": PAGE}, judgements)
    assert found.gold == {"q": {"page": 1, "other": 0.5}}
    spans = gold, Span("page", 12, 27, "They make\nHONEY")
    assert found.questions == [replace(asked, gold_spans=spans)]
    assert found.gone == judgements[-1:]


def test_decisions_on_what_is_gone_are_told_apart_and_refused_gold_leaves_no_zero() -> None:
    questions = [question("q1", "d1"), question("q2", "d2"), question("q3", judged=False)]
    judgements = [
        PairDecision("q1", "d1", "not"),
        PairDecision("q2", "lost", "relevant"),
        PairDecision("lost", "d1", "relevant"),
        PairDecision("q3", "d2", "partial"),
    ]
    found = decided(questions, texts(["d1", "d2"]), judgements)
    assert [one.place for one in found.gone] == [("q2", "lost", ""), ("lost", "d1", "")]
    assert found.gold == {"q1": None, "q2": {"d2": 1}, "q3": {"d2": 0.5}}
    assert [one.judged for one in found.questions] == [False, True, False]
    assert found.judged == {"q1": {"d1"}, "q2": {"d2"}, "q3": {"d2"}}
    ours = evaluate(
        table_of_run({q: (Hit("d2", 1.0),) for q in found.gold}),
        found.gold,
        measures("success@1", "ndcg@10"),
    )
    assert str(ours.values["success@1"].tolist()) == "[nan, 1.0, nan]"
    assert str(ours.values["ndcg@10"].tolist()) == "[nan, 1.0, 1.0]"


def test_a_ledger_has_one_judgement_of_a_pair(tmp_path: Path) -> None:
    path = tmp_path / "mini.yaml"
    first = {"question_id": "q", "doc_id": "d", "decision": "relevant", "author": "Ann"}
    judgement = PairDecision("q", "d", "relevant", author="Ann")
    for _ in range(2):
        with open_ledger(path) as ledger:
            ledger.add("judgements", [judgement])
    assert parse(Ledger, yaml_value(path), "ledger").judgements == (judgement,)
    with pytest.raises(ConfigurationError, match="two decisions on q d; keep"):
        parse(Ledger, {"judgements": [first, {**first, "decision": "partial"}]}, "ledger")


HEADER = "record_id,doc_id,decision,reason,author\n"


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("q,d,maybe,,\n", "row 2: decision is 'maybe'; expected one of relevant, partial, not"),
        ("q,other,not,,\n", "row 2: there is no q other"),
        ("other,d,not,,\n", "row 2: there is no other d"),
        ("q,d,not,,\nq,d,partial,,\n", "row 3: a row above has another decision"),
    ],
)
def test_a_decision_that_cannot_be_meant_is_refused_by_its_row(
    rows: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "decided.csv"
    path.write_text(HEADER + rows)
    with pytest.raises(ConfigurationError, match=told):
        read_judgements(path, {"q": question("q")}, {"d": Document("d", "text", "s", "d", True)})


def test_a_decision_lowers_a_grade_and_takes_the_spans_of_a_document_along() -> None:
    spans = Span("a", 0, 4, "text"), Span("b", 0, 4, "text")
    asked = replace(question("q", "a", "b"), gold_grades=(1, 3), gold_spans=spans)
    judgements = [PairDecision("q", "c", "partial"), PairDecision("q", "b", "not")]
    found = decided([asked], texts(["a", "b", "c"]), judgements)
    assert found.gold["q"] == {"a": 1, "b": 0, "c": 0.5}
    left = replace(asked, gold_doc_ids=("a",), gold_grades=(1,), gold_spans=spans[:1])
    left = replace(left, not_relevant=(("b", 0),))
    assert found.questions == [left]
