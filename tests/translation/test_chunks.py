"""Pieces of a long text: together they are the text, and each ends with a sentence."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bears.language.sentences import sentence_ends, split
from bears.translation.spans import join

TRICKY = st.text(
    st.sampled_from(list(".!?…。！？」』”\"') \n\r\u3000\u2028aB1漢と，,e\u0301\u200d"))
)
TEXTS = st.text() | TRICKY


def sentences(text: str) -> list[str]:
    places = [0, *sorted({*sentence_ends(text), len(text)})]
    pieces = [text[a:b] for a, b in pairwise(places)]
    return [piece.strip() for piece in pieces if piece.strip()]


@given(text=TEXTS, limit=st.integers(1, 30))
def test_the_pieces_are_the_text_none_is_too_long_and_unchanged_they_join_to_it(
    text: str, limit: int
) -> None:
    pieces = split(text, limit)
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= limit for piece in pieces)
    assert join(pieces, pieces, target_spaced=True) == text
    assert join([piece.strip() for piece in pieces], pieces, target_spaced=True) == text
    # Without spaces, nothing but white space changes.
    joined = join(pieces, pieces, target_spaced=False)
    assert "".join(joined.split()) == "".join(text.split())
    assert joined.count("\n") == text.count("\n")


SENTENCES = st.sampled_from(
    ["Mr. A left. ", "He ate 3.5 pies! ", "「好嗎？」", "他走了。", "She said “No.” ", "End.\n\n"]
)


@given(parts=st.lists(SENTENCES, max_size=30), limit=st.integers(17, 60))
def test_no_sentence_that_fits_is_cut(parts: list[str], limit: int) -> None:
    text = "".join(parts)
    places = set(sentence_ends(text)) | {len(text)}
    end = 0
    for piece in split(text, limit):
        end += len(piece)
        assert any(not text[place:end].strip() for place in places if place <= end)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Mr. Smith met Dr. Jones. They left.", ["Mr. Smith met Dr. Jones.", "They left."]),
        ("The U.S. Army won. It left.", ["The U.S. Army won.", "It left."]),
        ("Fruit, e.g. Apples. More.", ["Fruit, e.g. Apples.", "More."]),
        ("J. R. R. Tolkien wrote. I read.", ["J. R. R. Tolkien wrote.", "I read."]),
        ("It is 3.5 m. Or 1,000.25.", ["It is 3.5 m. Or 1,000.25."]),
        ("It was in 1990. Then 2.5 came.", ["It was in 1990.", "Then 2.5 came."]),
        ("Am 3. Mai kam er. Dann ging er.", ["Am 3. Mai kam er.", "Dann ging er."]),
        ("Das ist z.B. Obst usw. So.", ["Das ist z.B. Obst usw. So."]),
        ("She said “No.” He left.", ["She said “No.”", "He left."]),
        ('He said "No." (She did.) Then', ['He said "No."', "(She did.)", "Then"]),
        ('"Why?" he asked. Yes.', ['"Why?" he asked.', "Yes."]),
        ("Wait... what? Well... No.", ["Wait... what?", "Well...", "No."]),
        ("他走了。她來了！真的嗎？好", ["他走了。", "她來了！", "真的嗎？", "好"]),
        ("他說：「走吧。」她笑了。", ["他說：「走吧。」", "她笑了。"]),
        ("「行く。」と言った。帰った。", ["「行く。」と言った。", "帰った。"]),
        ("真的嗎?他說", ["真的嗎?", "他說"]),
        ("約３．５公尺．好", ["約３．５公尺．", "好"]),
        ("no end\nhere Mr.\nnow", ["no end", "here Mr.", "now"]),
        ("Visit example.com now. Go", ["Visit example.com now.", "Go"]),
        ("It is No. 5. No. He left.", ["It is No. 5. No.", "He left."]),
        ("", []),
    ],
)
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("One two. Three. Four", 16, ["One two. Three. ", "Four"]),
        ("One two. Three. Four", 15, ["One two. Three.", " Four"]),
        ("aaa bbb ccc", 8, ["aaa bbb ", "ccc"]),
        ("aaa bbb ccc", 7, ["aaa bbb", " ccc"]),
        ("aaaaaaaa", 3, ["aaa", "aaa", "aa"]),
        ("一二三，四五六七", 6, ["一二三，", "四五六七"]),
        ("abce\u0301f", 4, ["abc", "e\u0301f"]),
        ("a\r\n\r\nb", 3, ["a\r\n", "\r\nb"]),
        ("1,234,567", 4, ["1,23", "4,56", "7"]),
        ("short", 100, ["short"]),
    ],
)
def test_where_pieces_end(text: str, limit: int, expected: list[str]) -> None:
    assert split(text, limit) == expected


def test_a_limit_must_be_positive() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        split("a", 0)


def test_translated_pieces_are_joined_as_the_target_is_written() -> None:
    originals = split("One. Two.\n\nThree. Four.", 6)
    assert originals == ["One. ", "Two.\n\n", "Three.", " Four."]
    assert join(["一。", "二。", "三。 ", "四。"], originals, False) == "一。二。\n\n三。四。"
    assert join(["Ena.", "Dve.", "Tri.", "Štiri."], originals, True) == "Ena. Dve.\n\nTri. Štiri."
    english = ["With Python ", "Django."]
    assert join(["用 Python", "Django 寫"], english, False) == "用 Python Django 寫"
    assert join(["一", "made up", "二"], ["One", "   ", "Two"], True) == "一   二"
    with pytest.raises(ValueError, match="zip"):
        join(["一"], originals, False)


def test_a_long_text_of_one_kind_takes_linear_time() -> None:
    for character in '.…。!)" \n,a漢\u0301':
        text = character * 100_000
        assert "".join(split(text, 1000)) == text
