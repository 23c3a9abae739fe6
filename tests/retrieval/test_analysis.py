"""Terms against literal texts, Porter's published vocabulary, and Unicode's word boundaries."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from bears.retrieval.sparse.terms import (
    ANALYZERS,
    cjk_bigrams,
    english,
    porter,
    segmented,
    tokens,
    words,
)
from tests.workspace import ROOT


@pytest.mark.parametrize(
    ("analyze", "text", "terms"),
    [
        (cjk_bigrams, "臺北市", ["台", "北", "市", "台北", "北市"]),
        (cjk_bigrams, "Hello, World", ["hello", "world"]),
        (cjk_bigrams, "RAG 檢索增強", ["rag", "檢", "索", "增", "強", "檢索", "索增", "增強"]),
        (cjk_bigrams, "用Python3寫", ["用", "python3", "寫"]),
        (cjk_bigrams, "タワーへ", ["タ", "ワ", "ー", "へ", "タワ", "ワー", "ーへ"]),
        (cjk_bigrams, "서울은", ["서", "울", "은", "서울", "울은"]),
        (cjk_bigrams, "時代、人", ["時", "代", "時代", "人"]),
        (cjk_bigrams, "ＡＢＣ ２０２４年", ["abc", "2024", "年"]),
        (cjk_bigrams, "𠀀𠀁", ["𠀀", "𠀁", "𠀀𠀁"]),
        (cjk_bigrams, "人々", ["人", "々", "人々"]),
        (cjk_bigrams, "。！—", []),
        (cjk_bigrams, "", []),
        (words, "臺北市的天氣", ["台北市的天氣"]),
        (words, "The café isn't far", ["the", "cafe", "isn", "t", "far"]),
        (words, "RAG檢索", ["rag", "檢索"]),
        (words, "東京タワーへ行く", ["東京タワーへ行く"]),
        (words, "서울은 한국의 수도", ["서울은", "한국의", "수도"]),
        (words, "snake_case 3.5", ["snake", "case", "3", "5"]),
        (words, "", []),
        (segmented, "臺北市臺灣", ["台北市", "台灣"]),
        (segmented, "RAG 檢索增強，很好。", ["rag", "檢索", "增強", "很", "好"]),
        (segmented, "Hello, World", ["hello", "world"]),
        (segmented, "東京", ["東京"]),
        # Words that have spaces are not for jieba, nor are their accents.
        (segmented, "Café Ørsted 在臺北", ["cafe", "ørsted", "在", "台北"]),
        # jieba knows no Korean; for that, cjk-bigrams and words do better.
        (segmented, "서울은", ["서", "울", "은"]),
        (segmented, "", []),
        (english, "The O'Neills' dog's bones are NOT here", ["o'neil", "dog", "bone", "here"]),
        (english, "It's the cell’s DNA.", ["cell", "dna"]),
        (english, "technologies technological us is", ["technolog", "technolog", "us"]),
        (english, "0-dimensional biomaterials", ["0", "dimension", "biomateri"]),
        (english, "", []),
        # Examples of Unicode's annex 29, and what Lucene's own tests of StandardTokenizer expect.
        (tokens, "can't 32.3 foo.bar", ["can't", "32.3", "foo.bar"]),
        (tokens, "O'Reilly's so-called e-mail", ["O'Reilly's", "so", "called", "e", "mail"]),
        (tokens, "AB2B 21.35, R2D2 C3PO", ["AB2B", "21.35", "R2D2", "C3PO"]),
        (tokens, "1,000.5; 3a.b 3.a", ["1,000.5", "3a.b", "3", "a"]),
        (tokens, "a:b 1:2 x_y __ _z", ["a:b", "1", "2", "x_y", "_z"]),
        (tokens, "TNF-α/β H2O² ½", ["TNF", "α", "β", "H2O"]),
        (tokens, "cafe\u0301s so\u00adft", ["cafe\u0301s", "so\u00adft"]),
        (tokens, "我是中国人。", ["我", "是", "中", "国", "人"]),
        (tokens, "カタカナひらがな", ["カタカナ", "ひ", "ら", "が", "な"]),
        (tokens, "안녕하세요 한글입니다", ["안녕하세요", "한글입니다"]),
        (tokens, "العربية १२", ["العربية", "१२"]),
        (tokens, "10\u202f000", ["10", "000"]),
        (tokens, "!? … «»", []),
        (tokens, "a" * 300, ["a" * 255, "a" * 45]),
    ],
)
def test_texts_have_the_terms_of_their_analyzer(
    analyze: Callable[[str], list[str]], text: str, terms: list[str]
) -> None:
    assert analyze(text) == terms


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


@pytest.mark.parametrize("name", sorted({*ANALYZERS} - {"lucene"}))
@pytest.mark.parametrize(
    ("written", "plain"),
    [
        # What HTML writes as &shy;, &#8203;, &zwj; and &#8288;, and marks of direction.
        ("in\u00adfor\u00adma\u00adtion", "information"),
        ("in\u200bfor\u200dma\u2060tion\ufeff", "information"),
        ("\u202aCaf\u00e9\u202c\u200e s\ufe0foleil", "café soleil"),
        # Decomposed, as macOS writes names of files, and singletons (Ångström, Ohm).
        (unicodedata.normalize("NFD", "Éléphants Häuser señor"), "Éléphants Häuser señor"),
        ("\u212bngstr\u00f6m \u2126", "\u00c5ngstr\u00f6m \u03a9"),
        # Ligatures, as PDF has them, and letters by width, font and position.
        ("e\ufb03cient \ufb02ow \ufb01nd \ufb06op", "efficient flow find stop"),
        ("\uff28\uff4f\uff55\uff53\uff45 \U0001d407\U0001d428\U0001d42e", "House Hou"),
        ("\ufee3\ufeae\ufea3\ufe92\ufe8e \u0645\u200f\u0631\u00ad\u062d\u0628\u0627", "مرحبا " * 2),
        (unicodedata.normalize("NFD", "Việt йод ポーランド 서울"), "Việt йод ポーランド 서울"),
    ],
)  # fmt: skip
def test_a_text_has_the_same_terms_however_unicode_writes_it(
    name: str, written: str, plain: str
) -> None:
    assert ANALYZERS[name](written) == ANALYZERS[name](plain)


def test_what_has_no_width_separates_words_where_it_is_used_for_that() -> None:
    # Lucene's PersianAnalyzer replaces U+200C by a space; Khmer has no other mark of a word's end.
    assert words("کتاب\u200cها") == words("کتاب ها")
    assert words("ភាសា\u200bខ្មែរ") == words("ភាសា ខ្មែរ")


@pytest.mark.parametrize("name", sorted(ANALYZERS.keys() - {"lucene"}))
@pytest.mark.parametrize("apostrophe", "\u2019\u2018\u02bc\uff07\u201b\u055a")
def test_an_apostrophe_is_one_in_any_form(name: str, apostrophe: str) -> None:
    terms = ANALYZERS[name]
    for word in ("l'eau", "dell'arte", "O'Brien", "O'Brien's", "don't", "'tis", "Ankara'da"):
        assert terms(word.replace("'", apostrophe)) == terms(word)
        # What is elided hides no word.
        if name != "english":
            assert {*terms(word.rpartition("'")[2])} <= {*terms(word)}


def test_lucenes_own_terms_are_left_as_it_makes_them() -> None:
    # StandardTokenizer keeps a soft hyphen (annex 29, WB4), and no filter follows that drops it.
    assert ANALYZERS["lucene"]("so\u00adft e\ufb03cient") == ["so\u00adft", "eﬃcient"]


@given(st.text())
def test_what_stands_on_one_side_of_a_space_has_no_say_on_the_other(text: str) -> None:
    for analyze in ANALYZERS.values():
        apart = [term for word in text.split() for term in analyze(word)]
        assert analyze(text) == apart


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


def test_a_possessive_s_is_dropped_in_each_of_its_spellings_and_a_bare_s_stays() -> None:
    # EnglishPossessiveFilter of Lucene: ', \u2019 and \uff07, with s or S.
    assert english("John's DOG'S cat\u2019s fish\uff07s") == ["john", "dog", "cat", "fish"]
    assert english("s boss") == ["s", "boss"]
