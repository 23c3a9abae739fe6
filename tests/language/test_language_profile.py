"""Every language file has what the gates need, and its own passages pass them."""

from __future__ import annotations

import re

import pytest

from bears.config import compose, parse, read_mapping, read_selection
from bears.errors import ConfigurationError
from bears.language.gates import GATES, check
from bears.language.profile import Language, family
from bears.language.scripts import script_share
from bears.language.text import Text
from tests.languages import CONF, filler, load
from tests.pseudo import encode

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
