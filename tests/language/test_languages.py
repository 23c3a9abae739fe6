"""Declared languages, the texts that they are declared for, and their files in conf/."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bears.config import compose, read_mapping, read_selection
from bears.config.shape import Source
from bears.config.typed import parse
from bears.errors import ConfigurationError
from bears.language.declared import LENGTH, MOST, contradiction, disagreeing, kin
from bears.language.gates import GATES, check
from bears.language.profile import Language, family
from bears.language.scripts import script_share
from bears.language.tags import SCRIPTS, check_tag, languages_of
from bears.language.text import Text
from tests.languages import CONF, filler, load
from tests.pseudo import encode

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
def test_an_unknown_tag_is_refused_with_the_known_ones(tag: str) -> None:
    with pytest.raises(ConfigurationError, match=r"sources\.own\.language is .* en, eo, es, .* zh"):
        check_tag(tag, "sources.own.language")


@pytest.mark.parametrize(
    ("text", "tag", "found"),
    [
        (ENGLISH, "en", ""),
        (GERMAN, "de", ""),
        (GERMAN, "nds", ""),
        (GERMAN, "sl", "language de"),
        (ENGLISH, "de", "language en"),
        (GERMAN, "en", "language de"),
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
def test_what_contradicts_a_tag(text: str, tag: str, found: str) -> None:
    assert contradiction(text, tag) == found


WRITTEN_ALIKE = {"cmn", "lzh", "nan", "wuu", "yue", "zh", "pseudo"}
"""An index of Chinese texts is the same under each of these; no text is in ``pseudo``."""


@pytest.mark.parametrize("name", ["de", "ja", "ko", "sl", "zh-Hant-TW", "en"])
def test_under_every_other_tag_a_few_texts_of_a_language_are_found_out(name: str) -> None:
    texts = (ENGLISH,) if name == "en" else load(name).native
    assert disagreeing(texts, name) == ("", 0.0)
    same = WRITTEN_ALIKE if name.startswith("zh") else {name, "pseudo", *kin(name)}
    unseen = {tag for tag in SCRIPTS if disagreeing(texts, tag)[1] <= MOST}
    assert unseen <= same


def test_few_foreign_texts_among_many_short_ones_are_counted_one_by_one() -> None:
    assert disagreeing(["A mill.", KOREAN, "A hill.", "A wheel."], "en") == ("HANGUL script", 0.25)


SETS = {
    "drcd": ("raw/drcd.json", "zh-Hant-TW"),
    "science_ko": ("science_ko/documents.jsonl", "ko"),
    "pandachat": ("pandachat/pandachat-rag-si-dataset.json", "sl"),
    "scifact": ("scifact/queries.jsonl", "en"),
    "hotpotqa": ("official/hotpot_dev_distractor_v1.sample.json", "en"),
    "squad": ("squad_v2/dev-v2.0.half.json", "en"),
}
FIELDS = {"context", "question", "content", "query", "text_without_Q", "text"}


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts of documents and questions in a file of ours."""
    match value:
        case dict():
            for name, part in value.items():
                if name in FIELDS and isinstance(part, str):
                    yield part
                elif not name.endswith("answers"):
                    yield from texts_in(part)
        case list():
            for part in value:
                yield from texts_in(part)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_real_sets_fit_their_tag_and_contradict_every_other_one(
    shared_data: Path, name: str
) -> None:
    path, own = SETS[name]
    raw = (shared_data / path).read_text(encoding="utf-8")
    rows = raw.split("\n")[:-1] if path.endswith("l") else [raw]
    texts = [text for row in rows for text in texts_in(json.loads(row))]
    assert len(texts) > 300
    assert not [text for text in texts if contradiction(text[:LENGTH], own)]
    few = texts[:: len(texts) // 50]
    seen = {tag for tag in SCRIPTS if disagreeing(few, tag)[1] > MOST}
    same = WRITTEN_ALIKE if name == "drcd" else {own, "pseudo"}
    assert SCRIPTS.keys() - seen <= same


@pytest.mark.slow
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


OF_ENGLISH, OF_CHINESE = (Source("s", tag, "") for tag in ("en", "zh-Hant-TW"))
MIXED = {"drcd": OF_CHINESE, "hotpotqa": OF_ENGLISH}
ONE = {"beir": OF_ENGLISH}


@pytest.mark.parametrize(
    ("sources", "names", "kept", "expected"),
    [
        # Translated into the selected language: every source has its own.
        (MIXED, {"drcd"}, "zh-Hant-TW", {"drcd": "zh-Hant-TW", "hotpotqa": "en"}),
        (ONE, {"beir"}, "zh-Hant-TW", {"beir": "en"}),
        # The benchmark keeps its language: nothing is translated.
        (ONE, {"beir"}, "en", {"beir": "zh-Hant-TW"}),
        # Records of a benchmark of one source may name where they once came from.
        (ONE, {"drcd", "2wiki"}, "zh-Hant-TW", dict.fromkeys(("beir", "drcd", "2wiki"), "en")),
        (ONE, {"drcd"}, "en", dict.fromkeys(("beir", "drcd"), "zh-Hant-TW")),
        # With several sources, an unknown name stays unknown.
        (MIXED, {"nq"}, "zh-Hant-TW", {"drcd": "zh-Hant-TW", "hotpotqa": "en"}),
    ],
)
def test_a_text_is_native_if_its_language_is_the_target(
    sources: dict[str, Source], names: set[str], kept: str, expected: dict[str, str]
) -> None:
    assert languages_of(sources, names, kept, "zh-Hant-TW") == expected


# ------------------------------------------------------------------------- the files of conf/

NAMES = sorted(path.stem for path in (CONF / "language").glob("*.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_a_language_file_is_complete(name: str) -> None:
    language = load(name)
    assert len(language.numbers.months) == 12
    assert set(language.length) == {"alphabetic", "syllabic", "logographic"}
    assert all(len(pair) == 2 for pair in (*language.quotes, *language.titles))
    assert len(language.native) >= 3
    assert language.yes != language.no
    assert not set(language.yes_words) & set(language.no_words)
    for pattern in (
        *language.mood.words,
        *language.mood.answers,
        *language.chatter,
        *language.numbers.months,
        *language.variant.strangers,
    ):
        re.compile(pattern)
    # YAML reads bare yes, no, on and off as truth values.
    assert all(isinstance(word, str) for word in (*language.yes_words, *language.no_words))


@pytest.mark.parametrize("name", NAMES)
def test_native_passages_trip_no_gate(name: str) -> None:
    language = load(name)
    for passage in language.native:
        source = filler(passage, language)
        text = Text("content", source, passage, "en", language.name)
        assert check(text, language, {"numbers": "off", "changed_number": "off"}) == []
        assert contradiction(passage, language.name) == ""
        # A faithful translation would have the same numbers.
        same = Text("content", passage, passage, "en", language.name)
        assert GATES["numbers"](same, language) is None


def test_unknown_keys_are_refused() -> None:
    mapping = read_mapping(CONF / "language" / "de.yaml", "")
    with pytest.raises(ConfigurationError, match="umlauts"):
        parse(Language, {**mapping, "umlauts": True}, "language")
    with pytest.raises(ConfigurationError, match=r"language\.thresholds\.patience"):
        parse(Language, {**mapping, "thresholds": {"patience": 1}}, "language")


def test_families() -> None:
    tags = ("en", "sl", "ko-KR", "ja", "zh-Hant-TW", "pseudo")
    assert [family(tag) for tag in tags] == [
        *("alphabetic", "alphabetic", "syllabic", "logographic", "logographic", "alphabetic"),
    ]


def test_words_of_taiwan_and_of_the_pseudo_language() -> None:
    language = load("zh-Hant-TW")
    assert "Taiwan" in language.prompt.variant
    assert (language.yes, language.no) == ("是", "否")
    assert script_share("台灣 is an island", language.scripts) == 2 / 5
    pseudo = load("pseudo")
    assert (pseudo.yes, pseudo.no) == (encode("yes"), encode("no"))


@pytest.mark.parametrize("name", NAMES)
def test_hydra_reads_a_language_as_yaml_does(name: str) -> None:
    selection = read_selection(CONF.parent / "params.yaml") | {"language": name}
    assert parse(Language, compose(CONF, selection)["language"], "language") == load(name)
