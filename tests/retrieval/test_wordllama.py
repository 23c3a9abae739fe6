"""WordLlama's vectors are those of its package, in less memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import wordllama

from bears.errors import RetrieverUnavailable
from bears.retrieval.models.wordllama import WordLlama
from bears.retrieval.vectors import normalized
from tests.tiny_models import TEXTS
from tests.workspace import ROOT

ENGLISH = (ROOT / "data/local/mini/hotpotqa.json").read_text("utf-8")


@pytest.mark.slow
def test_vectors_are_the_packages_own_to_the_last_bit() -> None:
    folder = Path(wordllama.__file__).parent
    package = wordllama.WordLlama.load(cache_dir=folder, dim=256, disable_download=True)
    texts = [*TEXTS, "two  spaces \n", ENGLISH, *[ENGLISH[n : n + 300] for n in range(0, 9000, 90)]]
    theirs = normalized(np.asarray(package.embed(texts)))
    assert (WordLlama(256).documents(texts) == theirs).all()
    assert WordLlama(256).documents([]).shape == (0, 256)


def test_a_long_text_costs_no_memory_for_the_others() -> None:
    encoder, peaks = WordLlama(256), []
    encoder.load()
    for texts in ([ENGLISH], [ENGLISH, *["short"] * 100]):
        tracemalloc.start()
        encoder.documents(texts)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


def test_dimensions_that_the_package_does_not_carry_are_refused() -> None:
    with pytest.raises(RetrieverUnavailable, match="dimensions is 300; the package carries 256"):
        WordLlama(300).documents(["x"])
