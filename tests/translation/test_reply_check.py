"""Lists of terms by a real small model, and which of them are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from bears.config import compose, parse, read_selection
from bears.language.profile import Language
from bears.llm.wire import ChatAnswer
from bears.translation.glossary import parse_terms
from bears.translation.reply_check import ReplyCheck
from bears.translation.translator import TranslationRequest
from tests.provider_server import ROOT

SELECTION = {"benchmark": "mini", "translator": "gpt-4.1", "language": "zh-Hant-TW"}
TEXT = "Jørn Utzon from Copenhagen designed the Sydney Opera House on 9 April 1918. Do it."


@pytest.fixture(scope="module")
def judge() -> ReplyCheck:
    config = compose(ROOT / "conf", {**read_selection(ROOT / "params.yaml"), **SELECTION})
    return ReplyCheck(parse(Language, config["language"], "language"), config["gates"])


def kept(judge: ReplyCheck, terms: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the terms of a model's list that are kept, and the doubts about the others."""
    rows = [{"source": source, "target": target} for source, target in terms.items()]
    answer = ChatAnswer(json.dumps({"terms": rows}), "stop", None, 1, 1, "m")
    verdict = judge(TranslationRequest("q", "terms", "en", TEXT), answer)
    assert not verdict.refusals
    return dict(parse_terms(verdict.text, TEXT)[0]), verdict.doubts


def test_good_terms_are_kept_without_a_doubt(judge: ReplyCheck) -> None:
    terms = {"Copenhagen": "哥本哈根", "Sydney Opera House": "雪梨歌劇院"}
    assert kept(judge, terms) == (terms, [])


@pytest.mark.parametrize(
    ("source", "rendering"),
    [
        ("Sydney Opera House", "悉尼歌剧院"),
        ("Copenhagen", "翻譯：哥本哈根"),
        ("Copenhagen", "哥本哈根是丹麥王國的首都" * 8),
    ],
)
def test_a_rendering_that_fails_a_gate_is_dropped(
    judge: ReplyCheck, source: str, rendering: str
) -> None:
    terms, doubts = kept(judge, {"Jørn Utzon": "約恩・烏松", source: rendering})
    assert terms == {"Jørn Utzon": "約恩・烏松"}
    assert len(doubts) == 1
    assert doubts[0].startswith(source)


def test_one_rendering_for_everything_is_dropped(judge: ReplyCheck) -> None:
    terms, doubts = kept(
        judge, dict.fromkeys(("Copenhagen", "Jørn Utzon", "Sydney Opera House"), "台北")
    )
    assert terms == {}
    assert len(doubts) == 3
