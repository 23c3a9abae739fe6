"""WordLlama's vectors: those of its package, in memory that does not follow the longest text."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import wordllama

from bears.errors import RetrieverUnavailable
from bears.retrieval.models.encoder import normalised
from bears.retrieval.models.wordllama import WORD_BREAK, WordLlama
from bears.retrieval.parts import PART, parts
from tests.tiny_models import TEXTS
from tests.workspace import ROOT

ENGLISH = (ROOT / "data/local/mini/hotpotqa.json").read_text("utf-8")
LONG = " ".join(re.findall(r"\S+", ENGLISH * 8))


@pytest.fixture(scope="module")
def package() -> wordllama.WordLlama:
    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, dim=256, disable_download=True)


def test_vectors_are_the_packages_own_to_the_last_bit(package: wordllama.WordLlama) -> None:
    texts = [*TEXTS, "two  spaces \n", ENGLISH, *[ENGLISH[n : n + 300] for n in range(0, 9000, 90)]]
    theirs = normalised(np.asarray(package.embed(texts)))
    assert (WordLlama(256).documents(texts) == theirs).all()
    assert WordLlama(256).documents([]).shape == (0, 256)


def test_parts_of_a_long_text_have_its_tokens(package: wordllama.WordLlama) -> None:
    assert len(LONG) > 2 * PART
    found = list(parts(LONG, WORD_BREAK))
    assert [len(part) <= PART for part in found] == [True] * len(found)
    assert " ".join(found) == LONG
    whole = package.tokenizer.encode(LONG, add_special_tokens=False).tokens
    package.tokenizer.no_padding()
    encoded = package.tokenizer.encode_batch(found, add_special_tokens=False)
    assert [token for part in encoded for token in part.tokens] == whole


def test_a_text_without_a_space_is_read_to_its_end() -> None:
    text = "貓" * (2 * PART + 5)
    assert "".join(parts(text, WORD_BREAK)) == text


def test_one_long_text_among_many_costs_no_memory_for_the_others() -> None:
    encoder = WordLlama(256)
    encoder.load()
    tracemalloc.start()
    encoder.documents([LONG, *["short"] * 100])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A part has at most a token for each byte, of 1,024 bytes each, and stands there twice.
    assert peak < 2 * PART * 1024


def test_dimensions_that_the_package_does_not_carry_are_refused() -> None:
    with pytest.raises(RetrieverUnavailable, match="dimensions is 300; the package carries 256"):
        WordLlama(300).documents(["x"])
