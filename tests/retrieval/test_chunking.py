"""Chunks of documents: nothing of a text is lost, whatever cuts it."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bears.config.typed import build
from bears.errors import ConfigurationError
from bears.retrieval.chunking import Chunking, NoChunking, chunks
from bears.retrieval.chunking.judged import ChunksOfDocuments
from bears.retrieval.chunking.passages import Passages
from bears.retrieval.chunking.sentences import Sentences
from bears.retrieval.chunking.tokens import Tokens
from bears.types import Chunk, Document, Question, Span
from tests.retrieving import composed, document

TRICKY = st.text(
    st.sampled_from(list(".!?…。！？」”\"') \n\u3000\u2028aB1_漢かไ่，,e\u0301\u200d😀é"))
)
TEXTS = st.text() | TRICKY


def split(chunking: Chunking, text: str) -> list[str]:
    """Return the texts of the chunks."""
    return [text[start:end] for start, end in chunking.ranges(text)]


def words(size: int, overlap: int = 0) -> Tokens:
    return Tokens(size, overlap)


def test_a_chunk_is_called_after_its_document_and_its_range_and_a_whole_document_after_itself() -> (
    None
):
    documents = [document("a", "one two three", "g"), document("b", "four")]
    found = [(p.doc_id, p.group, p.content) for p in chunks(documents, words(2))]
    assert found == [("a#0-8", "g", "one two "), ("a#8-13", "g", "three"), ("b", "", "four")]


def test_a_document_whose_id_came_before_is_left_out_however_many_there_are() -> None:
    chance = random.Random(1)
    ids = [str(chance.randrange(3000)) for _ in range(10_000)]
    found = [p.doc_id for p in chunks((document(i, "x") for i in ids), NoChunking())]
    assert found == list(dict.fromkeys(ids))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Hello, world!", ["Hello", ", ", "world", "!"]),
        ("  臺北101大樓。\n", ["  臺", "北", "101", "大", "樓", "。\n"]),
        ("カタカナ と 한국어 문장", ["カ", "タ", "カ", "ナ ", "と ", "한국어 ", "문장"]),
        ("e\u0301tude naïve", ["e\u0301tude ", "naïve"]),
        ("กี่โมง", ["กี่", "โ", "ม", "ง"]),
        ("", [""]),
        ("  ", ["  "]),
    ],
)
def test_a_token_is_a_word_or_a_character_of_a_script_without_spaces_or_a_mark(
    text: str, tokens: list[str]
) -> None:
    assert split(words(1), text) == tokens


@given(text=TEXTS, size=st.integers(1, 7), overlap=st.integers(0, 6))
def test_every_chunk_begins_with_exactly_the_overlap_and_together_they_are_the_text(
    text: str, size: int, overlap: int
) -> None:
    overlap = min(overlap, size - 1)
    tokens = split(words(1), text)
    assert "".join(tokens) == text
    last = max(len(tokens) - overlap, 1)
    expected = ["".join(tokens[i : i + size]) for i in range(0, last, size - overlap)]
    assert split(words(size, overlap), text) == expected


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (4, 4), (4, -1), (-1, -2)])
def test_an_overlap_that_would_never_end_is_refused(size: int, overlap: int) -> None:
    with pytest.raises(ConfigurationError, match=rf"size is {size} and chunking.overlap is"):
        words(size, overlap)


def test_sentences_fill_a_chunk_as_far_as_they_fit() -> None:
    text = "Dr. No left. He ate 3.5 pies!  It rained. 他走了。她說：「好嗎？」然後睡了。"
    assert split(Sentences(31), text) == [
        "Dr. No left. He ate 3.5 pies!  ",
        "It rained. 他走了。她說：「好嗎？」然後睡了。",
    ]


def test_a_sentence_longer_than_a_chunk_is_cut_at_a_pause() -> None:
    assert split(Sentences(12), "one two three four.") == ["one two ", "three four."]


@given(text=TEXTS, characters=st.integers(1, 20))
def test_chunks_of_sentences_are_the_text_and_none_is_blank_or_too_long(
    text: str, characters: int
) -> None:
    found = split(Sentences(characters), text)
    assert "".join(found) == text
    assert all(len(chunk.strip()) <= characters for chunk in found)
    assert all(chunk.strip() for chunk in found) or len(found) == 1


@given(text=TEXTS, size=st.integers(1, 9), overlap=st.integers(0, 8))
def test_windows_of_characters_have_their_size_and_overlap_and_leave_nothing_out(
    text: str, size: int, overlap: int
) -> None:
    overlap = min(overlap, size - 1)
    found = Tokens(size, overlap, "characters").ranges(text)
    assert (found[0][0], found[-1][1]) == (0, len(text))
    assert all(end - start == size for start, end in found[:-1])
    assert all(before[1] - after[0] == overlap for before, after in pairwise(found))
    # No window lies within the one before.
    assert all(before[1] < after[1] for before, after in pairwise(found))


GUIDE = """\
# Setup

Install it.

## Linux

Use the package.

```sh
# not a heading

make
```

Windows
=======

It is not supported."""


def test_passages_end_before_headings_and_keep_code_together() -> None:
    assert split(Passages(10, 50), GUIDE) == [
        "# Setup\n\nInstall it.",
        "## Linux\n\nUse the package.",
        "```sh\n# not a heading\n\nmake\n```",
        "Windows\n=======\n\nIt is not supported.",
    ]


BLOCKS = st.lists(
    st.sampled_from(["# Head", "Some words. More words!", "a" * 30, "", "漢字。" * 9])
)


@given(blocks=BLOCKS, least=st.integers(1, 40), more=st.integers(1, 60))
def test_passages_are_in_order_lose_no_word_and_are_never_too_long(
    blocks: list[str], least: int, more: int
) -> None:
    text = "\n\n".join(blocks)
    found = split(Passages(least, least + more), text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(len(part) <= least + more for part in found) or not text.strip()
    assert all(part == part.strip() for part in found) or not text.strip()


@pytest.mark.parametrize("name", ["none", "tokens", "sentences", "characters", "passages"])
def test_every_choice_is_built_as_its_file_says(name: str) -> None:
    chunking = build(composed("chunking", f"chunking={name}"), "chunking")
    text = "The cat sat on the mat. " * 100
    assert split(chunking, text)[0].startswith("The cat")
    assert (len(chunking.ranges(text)) == 1) == (name == "none")


def test_chunks_of_graded_documents_keep_the_grades_of_their_documents() -> None:
    documents = [Document(name, "x" * 30, "s", name, True) for name in "ab"]
    parts = [Chunk("a", start, start + 10) for start in (0, 10, 20)]
    finder = ChunksOfDocuments(documents, [*parts, Chunk("b")])
    spans = (Span("a", 12, 25, "x" * 13),)
    graded = Question("q", "?", "", ("a", "b"), "s", "ad-hoc", (2, 1), gold_spans=spans)
    [found] = finder.questions([graded])
    assert found.gold_doc_ids == ("a#10-20", "a#20-30", "b")
    assert found.gold_grades == (2, 2, 1)
    [plain] = finder.questions([replace(graded, gold_grades=())])
    assert (plain.gold_doc_ids, plain.gold_grades) == (found.gold_doc_ids, ())
