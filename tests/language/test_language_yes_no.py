"""The rule for yes and no."""

from __future__ import annotations

from pathlib import Path

import pytest

from bears.language.yes_no import YesNo, first_yes_or_no, means, yes_or_no
from tests.languages import CONF, load


@pytest.mark.parametrize(
    ("answer", "language", "expected"),
    [
        ("yes", "en", "yes"),
        ("Yes!", "en-GB", "yes"),
        ("NO.", "en", "no"),
        ("No", "de", None),
        ("Nein.", "de", "no"),
        ("예", "ko", "yes"),
        ("아니요", "ko", "no"),
        ("是", "zh-Hant-TW", "yes"),
        ("「否」。", "zh-Hant-TW", "no"),
        ("はい。", "ja", "yes"),
        ("ＹＥＳ", "en", "yes"),
        ("Yes, they do", "en", None),
        ("Norway", "en", None),
        ("是非題", "zh", None),
        ("yes", "hi", None),
        ("", "en", None),
    ],
)
def test_a_whole_answer(answer: str, language: str, expected: YesNo | None) -> None:
    assert yes_or_no(answer, language) == expected
    if expected:
        assert first_yes_or_no(answer, language) == expected


@pytest.mark.parametrize(
    ("answer", "language", "expected"),
    [
        ("Well, yes; but no", "en", "yes"),
        ("nothing of it", "en", None),
        ("Dr. No was filmed", "de", None),
        ("不會", "zh-Hant-TW", "no"),
        ("他是", "zh-Hant-TW", None),
        ("네, 맞습니다", "ko", "yes"),
        ("네트워크", "ko", None),
        ("아니라고 했다", "ko", "no"),
    ],
)
def test_the_first_word_of_a_longer_answer(
    answer: str, language: str, expected: YesNo | None
) -> None:
    assert first_yes_or_no(answer, language) == expected


@pytest.mark.parametrize("path", sorted((CONF / "language").glob("*.yaml")), ids=lambda p: p.stem)
def test_the_lexicons_words_mean_what_they_say(path: Path) -> None:
    language = load(path.stem)
    words = (language.yes_words, language.no_words)
    assert [means(word, *words) for word in words[0]] == ["yes"] * len(words[0])
    assert [means(word, *words) for word in words[1]] == ["no"] * len(words[1])
    if language.name != "pseudo":
        assert yes_or_no(language.yes, language.name) == "yes"
        assert yes_or_no(language.no, language.name) == "no"
