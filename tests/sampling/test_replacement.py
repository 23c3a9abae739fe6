"""Replacing questions: one entry changes one question, and no entry minds another."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bears.config.ledger.entries import Ledger, Replacement
from bears.errors import LedgerError, SamplingError
from bears.sampling.lineage import Sample
from bears.sampling.mixture import Mixture, Recipe
from bears.types import Question
from tests.sampled import (
    BEARS,
    Rows,
    article,
    assert_sound,
    draw,
    generated,
    mixture_of,
    passage_row,
    question_ids,
    read_sources,
    small,
    typed,
    uuid,
)

SLOTS = range(0, 60, 4)
"""Some of the 60 questions of BEARS, of every source."""


def replacing(ids: Iterable[str]) -> Ledger:
    return Ledger(replacements=tuple(Replacement(i, "unclear") for i in ids))


@pytest.fixture(scope="module")
def real(shared_data: Path) -> Rows:
    return read_sources("bears", shared_data / "raw")


@pytest.fixture(scope="module")
def base(real: Rows) -> Sample:
    return draw(BEARS, real, Ledger())


@pytest.fixture(scope="module")
def singles(real: Rows, base: Sample) -> dict[int, Sample]:
    """Return for some slots the sample in which its question alone is replaced."""
    ids = question_ids(base)
    return {slot: draw(BEARS, real, replacing([ids[slot]])) for slot in SLOTS}


# ------------------------------------------------------------------------- one entry, real data


# ---------------------------------------------------------------------------- sets of entries


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_any_set_of_entries_gives_slot_by_slot_what_each_gives_alone(
    seed: int, real: Rows, base: Sample, singles: dict[int, Sample]
) -> None:
    rng = random.Random(seed)
    slots = sorted(rng.sample(SLOTS, rng.randrange(2, len(SLOTS) + 1)))
    together = draw(BEARS, real, replacing(question_ids(base)[i] for i in slots))
    assert_sound(together, BEARS, real)
    expected: list[Question] = list(base.questions)
    for slot in slots:
        expected[slot] = singles[slot].questions[slot]
    assert together.questions == expected
    # Beside the documents of the questions, only random negatives come or go.
    before, after = {*base.documents}, {*together.documents}
    assert max(len(before - after), len(after - before)) <= 12 * len(slots)


def test_an_entry_that_names_no_question_is_reported(
    real: Rows, base: Sample, singles: dict[int, Sample]
) -> None:
    stand_in = singles[4].questions[4].question_id
    drawn = draw(BEARS, real, replacing(["no such id", stand_in]))
    assert drawn.notes["unmatched_ledger_entries"] == sorted(["no such id", stand_in])
    assert (drawn.questions, drawn.documents) == (base.questions, base.documents)


# --------------------------------------------------------------------- shared paragraphs, spares


@pytest.mark.slow
def test_every_promise_holds_where_questions_share_paragraphs() -> None:
    replaced = shared = 0
    for seed in range(40):
        rng = random.Random(seed)
        sources = typed(generated(rng, rows=70, share=rng.choice([0.1, 0.2, 0.3])))
        mixture = small(Recipe, seed, questions=4, documents=120)
        try:
            base = draw(mixture, sources, Ledger())
        except SamplingError:
            continue
        slots = rng.sample(range(12), rng.randrange(1, 7))
        ids = [question_ids(base)[slot] for slot in slots]
        try:
            singles = {
                slot: draw(mixture, sources, replacing([i]))
                for slot, i in zip(slots, ids, strict=True)
            }
            together = draw(mixture, sources, replacing(ids))
        except LedgerError:
            continue
        replaced += 1
        assert_sound(together, mixture, sources)
        shared += any(len(line.get("questions", [])) > 1 for line in base.lineage)
        for slot in range(12):
            expected = singles.get(slot, base).questions[slot]
            assert together.questions[slot] == expected
        for single in singles.values():
            assert_sound(single, mixture, sources)
    assert replaced > 20
    assert shared > 8


def tiny(*rows: Any, fill: int, documents: int) -> tuple[Mixture, Mapping[str, Sequence[Any]]]:
    return mixture_of(documents, hop=1), {
        "hop": list(rows),
        "fill": [article(*(f"f{n}" for n in range(fill)))],
    }


def test_when_the_spares_are_used_up_the_entry_is_refused() -> None:
    rows = [passage_row(name, (name, f"text {name}", True)) for name in "abc"]
    mixture, sources = tiny(*rows, fill=4, documents=2)
    ids = [uuid(f"q:hop:{name}") for name in "abc"]
    for left in ids:
        drawn = draw(mixture, sources, replacing(i for i in ids if i != left))
        assert question_ids(drawn) == [left]
        assert_sound(drawn, mixture, sources)
    with pytest.raises(LedgerError, match=r"question .* source hop has no further question"):
        draw(mixture, sources, replacing(ids))


def test_a_spare_never_shares_a_paragraph_with_the_benchmark() -> None:
    rows = [
        passage_row("a", ("A", "a", True), ("S", "shared", False)),
        passage_row("b", ("B", "b", True), ("S", "shared", False)),
    ]
    mixture, sources = tiny(*rows, fill=4, documents=3)
    (first,) = question_ids(draw(mixture, sources, Ledger()))
    with pytest.raises(LedgerError, match="shares no paragraph with the benchmark"):
        draw(mixture, sources, replacing([first]))


def test_random_negatives_give_their_places_to_a_larger_stand_in() -> None:
    rows = [
        passage_row("small", ("A", "a", True)),
        passage_row("large", ("C", "c", True), ("D", "d", False), ("E", "e", False)),
    ]
    mixture, sources = tiny(*rows, fill=8, documents=4)
    sizes = set()
    for seed in range(10):
        base = draw(replace(mixture, seed=seed), sources, Ledger())
        drawn = draw(replace(mixture, seed=seed), sources, replacing(question_ids(base)))
        assert question_ids(drawn) != question_ids(base)
        assert_sound(drawn, mixture, sources)
        sizes.add(sum(row["role"] == "random_negative" for row in drawn.lineage if "role" in row))
    assert sizes == {1, 3}


def test_where_no_negative_can_fill_or_give_its_place_the_entry_is_refused() -> None:
    large = passage_row("large", ("C", "c", True), ("D", "d", False))
    mixture, sources = tiny(large, passage_row("small", ("A", "a", True)), fill=0, documents=2)
    (first,) = question_ids(draw(replace(mixture, seed=1), {**sources, "hop": [large]}, Ledger()))
    assert first == uuid("q:hop:large")
    refused = 0
    for seed in range(10):
        try:
            draw(replace(mixture, seed=seed), sources, replacing([first]))
        except (SamplingError, LedgerError) as error:
            refused += "are fewer; ask for fewer documents" in str(error)
    assert refused > 0
