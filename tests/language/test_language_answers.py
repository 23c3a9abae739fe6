"""Answers: normal forms, places in documents, aliases, renderings of terms, yes and no."""

from __future__ import annotations

from pathlib import Path

import pytest

from bears.language.answers import aliases, normalize, preserved, term_renderings
from bears.language.normalization import normalization_of, spaced
from bears.language.yes_no import YesNo, first_yes_or_no, means, yes_or_no
from tests.languages import CONF, load

CHINESE = load("zh-Hant-TW")
GERMAN = load("de")


@pytest.mark.parametrize(
    ("text", "normalized"),
    [
        ("堪薩斯（Kansas）", "堪薩斯"),
        ("臺北 101", "台北101"),
        ("《中華民國臨時政府組織大綱》", "中華民國臨時政府組織大綱"),
        ("尼可羅（Niccolò 或 Nicolò）・帕格尼尼（Paganini）", "尼可羅帕格尼尼"),
        ("９２％", "92"),
        # There is no other text.
        ("（Kansas）", "kansas"),
        ("巢狀（外（內）外）括號", "巢狀括號"),
    ],
)
def test_normalise_chinese(text: str, normalized: str) -> None:
    assert normalize(text, CHINESE) == normalized


def test_normalise_keeps_words_apart_where_spaces_do() -> None:
    assert normalize("Die  »Große« Straße (Berlin), 3", GERMAN) == "die grosse strasse 3"


def test_preserved() -> None:
    documents = ["他在臺中市（Taichung）出生。", "無關。"]
    assert preserved("臺中市", documents, CHINESE) == "exact"
    assert preserved("台中市 (Taichung)", documents, CHINESE) == "normalised"
    assert preserved("Taichung", documents, CHINESE) == "exact"
    assert preserved("高雄市", documents, CHINESE) is None
    assert preserved("！", ["沒有驚歎號"], CHINESE) is None
    # A word, not a part of one.
    assert preserved("rom", ["Er fuhr nach Rom."], GERMAN) == "normalised"
    assert preserved("Rom", ["Er fuhr nach Rom."], GERMAN) == "exact"
    assert preserved("rom", ["Der Strom fiel aus, ein Roman lag da."], GERMAN) is None
    # Korean particles follow without a space.
    assert preserved("서울", ["서울에서 태어났다."], load("ko")) == "exact"


def test_aliases() -> None:
    assert aliases("《臺北物語》（Taipei Story）", CHINESE)[:2] == ["《臺北物語》", "Taipei Story"]
    assert {"臺北物語", "台北物語", "《台北物語》"} <= set(
        aliases("《臺北物語》（Taipei Story）", CHINESE)
    )
    assert aliases("1942", CHINESE) == []
    assert "不是" in aliases("否", CHINESE)


def test_terms() -> None:
    texts = [
        ("Rogers met Anna.", "羅傑斯遇見安娜。"),
        ("Anna left Rogers.", "安娜離開了羅傑斯（Rogers）。"),
        ("Annabel stayed.", "安娜貝爾留下了。"),
        ("Rogers slept.", "羅哲斯睡了。"),
    ]
    glossary = [("Rogers", "羅傑斯"), ("Anna", "安娜"), ("Zoe", "柔伊")]
    found = dict(term_renderings(glossary, texts, CHINESE))
    assert found == {"Rogers": False, "Anna": True}


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("中\u0301a", "中\u0301 a"),
        ("中 \u0301a", "中\u0301 a"),
        ("ab, \u0301.\u0302c", "ab\u0301\u0302 c"),
        (" \u0301中文 1,000臺B", "中 文 1000 台 b"),
    ],
)
def test_a_mark_stays_with_its_letter_without_spaces(text: str, normal: str) -> None:
    assert normalization_of("zh-Hant-TW").normal_form(text) == normal


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


def test_spaced_drops_punctuation_and_case_and_keeps_letters_apart() -> None:
    assert spaced("Ljubljana, je — „MESTO“;  ﬁne") == "ljubljana je mesto fine"
