"""The sampler ``whole``: a benchmark of others is taken as it is, or a fixed part of its pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from bears.config.ledger.entries import Edit, Ledger
from bears.errors import LedgerError, SamplingError
from bears.sampling.lineage import Sample
from bears.sampling.whole import Chosen, Whole, sample_whole
from bears.sources.parts import pool_document, pool_question
from bears.types import Answer, Question, Turn
from tests.sampled import collected

ALL = Whole("s")
POOL = [pool_document("s", f"d{n}", f"text {n}") for n in range(8)]
JUDGED: list[Any] = [
    *POOL,
    pool_question("s", "q1", "one?", gold={"d5": 1, "d2": 1}),
    pool_question("s", "q2", "two?", gold={"d7": 2, "d5": 1}),
    pool_question("s", "q3", "three?", judged=False, lacks="judgement"),
    pool_question("s", "q4", "four?", judged=False, lacks="relevant"),
]


def taken(rows: Sequence[Any], settings: Whole = ALL) -> Sample[Chosen]:
    return sample_whole(settings, {"s": collected([row] for row in rows)}, Ledger(), "CC-BY-4.0")


def test_questions_are_those_that_are_judged_with_their_grades() -> None:
    found = taken(JUDGED)
    assert found.questions == [
        # Two of grade 1: nothing graded to say.
        Question("q1", "one?", "", ("d5", "d2"), "s", "ad-hoc"),
        Question("q2", "two?", "", ("d7", "d5"), "s", "ad-hoc", gold_grades=(2, 1)),
        # What is relevant is unknown, which differs from nothing being relevant.
        Question("q4", "four?", "", (), "s", "ad-hoc", judged=False),
    ]
    assert found.notes["passed_over"] == {"s": {"no document is judged for it": 1}}
    assert found.notes["judged_without_relevant"] == 1


def test_a_source_that_judges_its_questions_itself() -> None:
    answers = (Answer("yes-no", "Yes", ("d1",)), Answer("unanswerable", "Unanswerable", ()))
    turns = (Turn("user", "Hello."), Turn("assistant", "Hello!"))
    rows: list[Any] = [
        *POOL,
        pool_question("s", "a", "?", "Yes", {"d1": 1}, answers=answers, group="p"),
        pool_question("s", "b", "And?", turns=turns),
        pool_question("s", "c", "What?", judged=False),
    ]
    assert taken(rows).questions == [
        Question("a", "?", "Yes", ("d1",), "s", "ad-hoc", answers=answers, group="p"),
        # Judged and without gold: nothing is to be retrieved.
        Question("b", "And?", "", (), "s", "no-retrieval", turns=turns),
        Question("c", "What?", "", (), "s", "ad-hoc", judged=False),
    ]


@pytest.mark.parametrize("size", [3, 5])
def test_a_quick_run_has_all_gold_and_others_drawn_in_the_same_order(size: int) -> None:
    drawn: dict[int, list[str]] = {}
    for seed in (1, 1, 2, 3, 4):
        found = taken(JUDGED, replace(ALL, max_docs=size, seed=seed))
        ids = [document.doc_id for document in found.documents]
        assert {"d2", "d5", "d7"} <= {*ids}
        assert ids == sorted(ids)
        assert len(ids) == size
        assert drawn.setdefault(seed, ids) == ids
        assert found.questions == taken(JUDGED).questions
    assert len({tuple(ids) for ids in drawn.values()}) > (size > 3)


@pytest.mark.parametrize("size", [8, None])
def test_a_limit_above_the_pool_takes_it_all(size: int | None) -> None:
    assert len(list(taken(JUDGED, replace(ALL, max_docs=size)).documents)) == 8


def test_every_record_has_a_line_that_says_where_it_comes_from() -> None:
    lineage = list(taken(JUDGED, replace(ALL, max_docs=3)).lineage)
    assert lineage[0] == {
        "record_id": "q1",
        "kind": "question",
        "source": "s",
        "upstream_id": "q1",
        "licence": "CC-BY-4.0",
        "row": 9,
    }
    assert [row["record_id"] for row in lineage] == ["q1", "q2", "q4", "d2", "d5", "d7"]
    assert lineage[4] == {
        "record_id": "d5",
        "kind": "document",
        "source": "s",
        "original_id": "d5",
        "role": "gold",
        "questions": ["q1", "q2"],
        "licence": "CC-BY-4.0",
    }
    roles = [row["role"] for row in taken(JUDGED).lineage if row["kind"] == "document"]
    assert roles == ["pool", "pool", "gold", "pool", "pool", "gold", "pool", "gold"]


@pytest.mark.parametrize(
    ("rows", "settings", "message"),
    [
        (JUDGED, replace(ALL, max_docs=2), "max_docs is 2, but the questions' gold alone are 3"),
        (
            JUDGED,
            replace(ALL, source="t"),
            "source t is asked for under sample",
        ),
        (POOL, ALL, "gives 0 questions that are judged and 8 documents"),
        (JUDGED[8:], ALL, "gives 3 questions that are judged and 0 documents"),
        ([], ALL, "source s gives 0 questions that are judged"),
    ],
)
def test_what_cannot_be_taken_is_refused(
    rows: Sequence[Any], settings: Whole, message: str
) -> None:
    with pytest.raises(SamplingError) as caught:
        taken(rows, settings)
    assert message in str(caught.value)


def test_a_benchmark_of_others_is_not_edited() -> None:
    ledger = Ledger(edits=(Edit("d1", "content", "text 1", "text one", "why"),))
    with pytest.raises(LedgerError, match="takes a benchmark as it is"):
        sample_whole(ALL, {"s": collected([row] for row in JUDGED)}, ledger)
