"""Terms against literal texts, Porter's published vocabulary, and Unicode's word boundaries."""

from __future__ import annotations

import re

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from bears.retrieval.sparse.analysis import ANALYZERS
from bears.retrieval.sparse.analysis.english import english
from bears.retrieval.sparse.analysis.standard import tokens
from bears.retrieval.sparse.analysis.stems import porter
from bears.retrieval.sparse.analysis.unspaced import cjk_bigrams, segmented, words
from tests.workspace import ROOT


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("臺北市", ["台", "北", "市", "台北", "北市"]),
        ("Hello, World", ["hello", "world"]),
        ("RAG 檢索增強", ["rag", "檢", "索", "增", "強", "檢索", "索增", "增強"]),
        ("用Python3寫", ["用", "python3", "寫"]),
        ("タワーへ", ["タ", "ワ", "ー", "へ", "タワ", "ワー", "ーへ"]),
        ("서울은", ["서", "울", "은", "서울", "울은"]),
        ("時代、人", ["時", "代", "時代", "人"]),
        ("ＡＢＣ ２０２４年", ["abc", "2024", "年"]),
        ("𠀀𠀁", ["𠀀", "𠀁", "𠀀𠀁"]),
        ("人々", ["人", "々", "人々"]),
        ("。！—", []),
        ("", []),
    ],
)
def test_characters_and_pairs_of_unspaced_scripts_words_of_others(
    text: str, terms: list[str]
) -> None:
    assert cjk_bigrams(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("臺北市的天氣", ["台北市的天氣"]),
        ("The café isn't far", ["the", "cafe", "isn", "t", "far"]),
        ("RAG檢索", ["rag", "檢索"]),
        ("東京タワーへ行く", ["東京タワーへ行く"]),
        ("서울은 한국의 수도", ["서울은", "한국의", "수도"]),
        ("snake_case 3.5", ["snake", "case", "3", "5"]),
        ("", []),
    ],
)
def test_whole_runs(text: str, terms: list[str]) -> None:
    assert words(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("臺北市臺灣", ["台北市", "台灣"]),
        ("RAG 檢索增強，很好。", ["rag", "檢索", "增強", "很", "好"]),
        ("Hello, World", ["hello", "world"]),
        ("東京", ["東京"]),
        # Words that have spaces are not for jieba, nor are their accents.
        ("Café Ørsted 在臺北", ["cafe", "ørsted", "在", "台北"]),
        # jieba knows no Korean; for that, cjk-bigrams and words do better.
        ("서울은", ["서", "울", "은"]),
        ("", []),
    ],
)
def test_words_of_jieba(text: str, terms: list[str]) -> None:
    assert segmented(text) == terms


@given(st.text())
def test_no_analyzer_gives_an_empty_term_or_a_space(text: str) -> None:
    for analyze in ANALYZERS.values():
        terms = analyze(text)
        assert all(term and not any(c.isspace() for c in term) for term in terms)


@given(st.text(st.sampled_from("台北a1 ,。タ서")))
def test_upper_and_full_width_letters_are_the_same_terms(text: str) -> None:
    wide = text.replace("a", "Ａ").replace("1", "１").replace("台", "臺")
    for analyze in (cjk_bigrams, words):
        assert analyze(text) == analyze(wide)


@given(st.text())
def test_what_stands_on_one_side_of_a_space_has_no_say_on_the_other(text: str) -> None:
    for analyze in ANALYZERS.values():
        apart = [term for word in text.split() for term in analyze(word)]
        assert analyze(text) == apart


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # Examples of Unicode's annex 29, and what Lucene's own tests of StandardTokenizer expect.
        ("can't 32.3 foo.bar", ["can't", "32.3", "foo.bar"]),
        ("O'Reilly's so-called e-mail", ["O'Reilly's", "so", "called", "e", "mail"]),
        ("AB2B 21.35, R2D2 C3PO", ["AB2B", "21.35", "R2D2", "C3PO"]),
        ("1,000.5; 3a.b 3.a", ["1,000.5", "3a.b", "3", "a"]),
        ("a:b 1:2 x_y __ _z", ["a:b", "1", "2", "x_y", "_z"]),
        ("TNF-α/β H2O² ½", ["TNF", "α", "β", "H2O"]),
        ("cafe\u0301s so\u00adft", ["cafe\u0301s", "so\u00adft"]),
        ("我是中国人。", ["我", "是", "中", "国", "人"]),
        ("カタカナひらがな", ["カタカナ", "ひ", "ら", "が", "な"]),
        ("안녕하세요 한글입니다", ["안녕하세요", "한글입니다"]),
        ("العربية १२", ["العربية", "१२"]),
        ("10\u202f000", ["10", "000"]),
        ("!? … «»", []),
        ("a" * 300, ["a" * 255, "a" * 45]),
    ],
)
def test_words_end_where_unicode_and_lucene_say(text: str, words: list[str]) -> None:
    assert tokens(text) == words


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The O'Neills' dog's bones are NOT here", ["o'neil", "dog", "bone", "here"]),
        ("It's the cell’s DNA.", ["cell", "dna"]),
        ("technologies technological us is", ["technolog", "technolog", "us"]),
        ("0-dimensional biomaterials", ["0", "dimension", "biomateri"]),
        ("", []),
    ],
)
def test_english_is_that_of_lucene(text: str, terms: list[str]) -> None:
    assert english(text) == terms


def test_stems_are_those_of_snowballs_porter_but_for_what_lucene_has_otherwise() -> None:
    text = (ROOT / "data/local/mini/hotpotqa.json").read_text("utf-8")
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        text += page.read_text("utf-8")
    known = {word for word in re.findall("[a-z]+", text.lower()) if len(word) > 2}
    snowball = Stemmer.Stemmer("porter")
    alike = sorted(word for word in known if not re.search("logi|logy|bl[iy]", word))
    assert len(alike) > 1000
    assert [porter(word) for word in alike] == snowball.stemWords(alike)


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        # Of the examples in Porter's article, then of what his programs do besides.
        ("caresses", "caress"), ("ponies", "poni"), ("agreed", "agre"), ("plastered", "plaster"),
        ("motoring", "motor"), ("sing", "sing"), ("hopping", "hop"), ("falling", "fall"),
        ("filing", "file"), ("happy", "happi"), ("sky", "sky"), ("relational", "relat"),
        ("vietnamization", "vietnam"), ("triplicate", "triplic"), ("hopefulness", "hope"),
        ("adjustment", "adjust"), ("adoption", "adopt"), ("controlling", "control"),
        ("probate", "probat"), ("cease", "ceas"), ("roll", "roll"), ("yellow", "yellow"),
        ("biotechnology", "biotechnolog"), ("assembly", "assembl"), ("as", "as"), ("us", "us"),
        ("assemblies", "assembl"), ("possibly", "possibl"), ("bubblier", "bubblier"),
        ("geology", "geologi"), ("histologies", "histolog"), ("trekking", "trek"),
        ("trekked", "trek"), ("embedded", "embed"), ("ably", "abli"), ("hmmming", "hmmming"),
    ],
)  # fmt: skip
def test_stems_of_porter(word: str, stemmed: str) -> None:
    assert porter(word) == stemmed


@pytest.mark.parametrize(
    ("analyzer", "forms"),
    [
        ("german", "Häuser Hauses Haus"),
        ("prefixes", "Ljubljana Ljubljani ljubljanski"),
        ("french", "continuel continuelle"),
        ("spanish", "chicas chica"),
    ],
)
def test_forms_of_a_word_are_one_term(analyzer: str, forms: str) -> None:
    assert len(set(ANALYZERS[analyzer](forms))) == 1
