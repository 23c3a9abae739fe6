"""A language that is declared, and the texts that it is declared for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bears.errors import ConfigurationError
from bears.language.declared import contradiction
from bears.language.tags import check_tag
from tests.languages import CONF, load

ENGLISH = (
    "The old mill of the village was built by two brothers, and it is said that the wheel had to "
    "be carried up the hill for the third time after the flood of that year, which is remembered."
)
GERMAN = (
    "Die alte Mühle wurde im Jahr 1861 von zwei Brüdern gebaut, die aus dem Tal gekommen waren, "
    "und ihre Kinder arbeiteten dort, bis das Hochwasser von 1926 das Rad mit sich fortriss, so "
    "dass danach niemand mehr am Bach wohnen wollte."
)
TRADITIONAL = "這座舊磨坊是兄弟兩人於一八六一年所建，後來毀於洪水。"
SIMPLIFIED = "这座旧磨坊是兄弟两人于一八六一年所建，后来毁于洪水。"
JAPANESE = "この古い水車小屋は一八六一年に二人の兄弟によって建てられた。"
KOREAN = "이 오래된 방앗간은 1861년에 두 형제가 지었다."


@pytest.mark.parametrize("tag", ["", "jp", "english", "zh_TW", "xx", "e"])
def test_a_tag_that_no_language_has_is_refused_with_those_that_are_known(tag: str) -> None:
    with pytest.raises(ConfigurationError, match=r"sources\.own\.language is .* en, eo, es, .* zh"):
        check_tag(tag, "sources.own.language")


@pytest.mark.parametrize("tag", ["en", "EN-us", "ja", "zh-Hant-TW", "pseudo", "yue"])
def test_known_tags_pass(tag: str) -> None:
    check_tag(tag, "-")


@pytest.mark.parametrize(
    ("text", "tag", "found"),
    [
        (ENGLISH, "en", ""),
        (GERMAN, "de", ""),
        (GERMAN, "sl", ""),
        (ENGLISH, "de", "English"),
        (GERMAN, "en", "hardly any English"),
        (ENGLISH, "zh-Hant-TW", "LATIN script"),
        (ENGLISH, "ko", "LATIN script"),
        (TRADITIONAL, "en", "CJK/HAN script"),
        (KOREAN, "ja", "HANGUL script"),
        (TRADITIONAL, "zh-Hant-TW", ""),
        (TRADITIONAL, "zh", ""),
        (SIMPLIFIED, "zh", ""),
        (SIMPLIFIED, "zh-Hant-TW", "simplified characters"),
        (SIMPLIFIED, "zh-TW", "simplified characters"),
        (TRADITIONAL, "zh-CN", "traditional characters"),
        (JAPANESE, "zh-Hant-TW", "Japanese"),
        (JAPANESE, "ja", ""),
        (TRADITIONAL, "ja", "no kana"),
        (KOREAN, "ko", ""),
        ("NaCl, H2O: 1,234 §", "en", ""),
    ],
)
def test_what_speaks_against_a_tag(text: str, tag: str, found: str) -> None:
    assert contradiction(text, tag) == found


@pytest.mark.parametrize("path", sorted((CONF / "language").glob("*.yaml")), ids=lambda p: p.stem)
def test_native_passages_fit_their_language(path: Path) -> None:
    language = load(path.stem)
    assert [contradiction(text, language.name) for text in language.native] == [""] * len(
        language.native
    )


def test_every_real_paragraph_of_drcd_fits_and_its_simplified_form_does_not(
    shared_data: Path,
) -> None:
    from opencc import OpenCC

    articles = json.loads((shared_data / "raw/drcd.json").read_bytes())
    texts = [p["context"] for a in articles for p in a.get("data", a)["paragraphs"]]
    assert not [text for text in texts if contradiction(text, "zh-Hant-TW")]
    simplify = OpenCC("t2s").convert
    unseen = [t for t in texts if contradiction(simplify(t), "zh-Hant-TW") == ""]
    assert len(unseen) <= 0.01 * len(texts)
