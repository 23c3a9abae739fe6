"""Texts that contain one another, against sets of their passages."""

from __future__ import annotations

import random

import pytest

from bears.language.overlap import overlaps


def letters(rng: random.Random, n: int) -> str:
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=n))


@pytest.mark.parametrize("seed", range(4))
def test_overlaps_are_the_shares_of_passages_that_two_texts_have(seed: int) -> None:
    rng, width = random.Random(seed), 6
    pieces = [letters(rng, rng.randint(5, 60)) for _ in range(12)]
    texts = ["".join(rng.sample(pieces, rng.randint(1, 5))) for _ in range(25)]
    texts += [texts[0], letters(rng, 3), ""]
    sets = [{t[i : i + width] for i in range(len(t) - width + 1)} for t in texts]
    expected = {
        tuple(sorted((i, j))): len(a & b) / min(len(a), len(b))
        for i, a in enumerate(sets)
        for j, b in enumerate(sets[:i])
        if a and b and len(a & b) >= 0.5 * min(len(a), len(b))
    }
    found, every = overlaps(texts, width, 0.5, repeated=len(texts))
    # The first of several equal texts represents them all.
    copies = {i for i, text in enumerate(texts) if text in texts[:i]}
    assert every == 1
    different = {tuple(sorted(pair[:2])): pair for pair in found if not pair.equal}
    shares = {pair: share for pair, share in expected.items() if not copies & set(pair)}
    assert {at: pair.share for at, pair in different.items()} == pytest.approx(shares)
    for (i, j), pair in different.items():
        assert pair.common == pytest.approx(len(sets[i] & sets[j]) / len(sets[i] | sets[j]))
    assert {pair.smaller for pair in found if pair.equal} == {i for i in copies if texts[i]}


def test_passages_that_many_texts_have_make_no_duplicates() -> None:
    head = "this page is a part of the encyclopaedia that anyone can edit and all may read"
    rng = random.Random(1)
    texts = [head + letters(rng, 30) for _ in range(30)]
    assert overlaps(texts, 24, 0.5, repeated=20)[0] == []
    assert len(overlaps(texts[:20], 24, 0.5, repeated=20)[0]) == 190
