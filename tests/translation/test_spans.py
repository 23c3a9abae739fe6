"""Marks are read back from any text, and none is left in it."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bears.translation.spans import CLOSE, OPEN, mark, read_back

# Mostly characters that could be confused with marks, so that short texts cover every case.
TRICKY = st.text(st.sampled_from(list("⟦⟧〚〛[]［］\\ a1.,B台\n")), max_size=12)
BRACKETS = ["⟦", "⟧", "〚", "〛", "[[", "]]", "［［", "］］"]
TEXTS = TRICKY | st.text(max_size=40)


@given(before=TEXTS, answer=TEXTS, after=TEXTS)
def test_a_marked_phrase_is_read_back(before: str, answer: str, after: str) -> None:
    answer = answer.strip()
    assume(answer)
    text = before + answer + after
    marked = mark(text, answer)
    assert (marked is None) == any(token in text for token in BRACKETS)
    if marked is None:
        return
    back, span = read_back(marked)
    assert back == text
    # Another case is marked only if the answer's own case is part of a longer word.
    assert span == answer or (span or "").casefold() == answer.casefold() != answer.swapcase()


@given(text=st.text(st.sampled_from("⟦⟧〚〛[]［］ a1.台"), max_size=12))
def test_no_mark_is_left_in_a_text(text: str) -> None:
    back, span = read_back(text)
    for token in (OPEN, CLOSE, "〚", "〛"):
        assert token not in back
        assert token not in (span or "")
    assert span is None or (span in back and span == span.strip())


@given(TEXTS, TEXTS)
def test_an_absent_answer_is_not_marked(text: str, answer: str) -> None:
    assume(answer.strip().casefold() not in text.casefold())
    marked = mark(text, answer)
    assert marked is None or read_back(marked)[0] == text


@pytest.mark.parametrize(
    ("text", "answer", "expected"),
    [
        ("Paris is Paris.", "Paris", "⟦Paris⟧ is Paris."),
        ("comparison of Paris", "paris", "comparison of ⟦Paris⟧"),
        ("The bus of the US", "us", "The bus of the ⟦US⟧"),
        ("the us and the US", "US", "the us and the ⟦US⟧"),
        ("Parisian", "Paris", "⟦Paris⟧ian"),
        ("3.5 of 5", "5", "3.5 of ⟦5⟧"),
        ("3,500 and 3", "3", "3,500 and ⟦3⟧"),
        ("In 1990.", "1990", "In ⟦1990⟧."),
        ("他在台北工作", "台北", "他在⟦台北⟧工作"),
        ("서울은 수도다", "서울", "⟦서울⟧은 수도다"),
        ("用Python寫", "Python", "用⟦Python⟧寫"),
        ("Cafe\u0301 Cafe", "Cafe", "Cafe\u0301 ⟦Cafe⟧"),
        ("costs $5.", "$5", "costs ⟦$5⟧."),
        ("in  Paris", " Paris ", "in  ⟦Paris⟧"),
        ("C:\\Paris", "Paris", "C:\\⟦Paris⟧"),
        ("see [[1]] in Paris", "Paris", None),
        ("see ⟧ in Paris", "Paris", None),
        ("London", "Paris", None),
        ("London", " ", None),
    ],
)
def test_which_occurrence_is_marked(text: str, answer: str, expected: str | None) -> None:
    assert mark(text, answer) == expected


@pytest.mark.parametrize(
    ("translation", "text", "span"),
    [
        ("他在⟦台北⟧工作。", "他在台北工作。", "台北"),
        ("他在[[台北]]工作。", "他在台北工作。", "台北"),
        ("他在〚台北〛工作。", "他在台北工作。", "台北"),
        ("他在［［台北］］工作。", "他在台北工作。", "台北"),
        ("他在⟦ 台北 ⟧工作。", "他在台北工作。", "台北"),
        ("in⟦ Paris ⟧is", "in Paris is", "Paris"),
        ("Here,⟦ Paris ⟧.", "Here, Paris.", "Paris"),
        ("(⟦ Paris ⟧)", "(Paris)", "Paris"),
        ("他在⟦台北]]工作。", "他在台北工作。", "台北"),
        ("\\(1\\) 在\\⟦台北⟧", "\\(1\\) 在\\台北", "台北"),
        ("他在台北工作。", "他在台北工作。", None),
        ("他在⟦台北工作。", "他在台北工作。", None),
        ("他在⟧台北⟦工作。", "他在台北工作。", None),
        ("⟦他⟧在⟦台北⟧", "他在台北", None),
        ("⟦⟦台北⟧⟧", "台北", None),
        ("他在⟦ ⟧工作。", "他在工作。", None),
        ("", "", None),
    ],
)
def test_how_marks_are_read(translation: str, text: str, span: str | None) -> None:
    assert read_back(translation) == (text, span)


def test_long_runs_are_read_in_linear_time() -> None:
    run = "\\" * 200_000
    assert read_back(run) == (run, None)
    assert read_back("[" * 200_001)[1] is None
