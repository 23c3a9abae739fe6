"""Lists of terms by a real small model, and which of them are kept."""

from __future__ import annotations

import json

import pytest

from bears.config import compose, read_selection
from bears.config.typed import parse
from bears.language.profile import Language
from bears.llm.wire import ChatAnswer
from bears.translation.glossary import parse_terms
from bears.translation.source_texts import SourceTexts
from bears.translation.task import TranslationTask
from bears.translation.translator import TranslationRequest, TranslatorSettings
from tests.provider_server import ROOT

SELECTION = {"benchmark": "mini", "translator": "gpt-4.1", "language": "zh-Hant-TW"}
TEXT = "Jørn Utzon from Copenhagen designed the Sydney Opera House on 9 April 1918. Do it."


@pytest.fixture(scope="module")
def task() -> TranslationTask:
    config = compose(ROOT / "conf", {**read_selection(ROOT / "params.yaml"), **SELECTION})
    language = parse(Language, config["language"], "language")
    translator = parse(TranslatorSettings, config["translator"], "translator")
    texts = SourceTexts([], [], {}, language.name)
    return TranslationTask(translator, language, config["gates"], texts)


PERSON, CITY, HOUSE = "Jørn Utzon", "Copenhagen", "Sydney Opera House"


@pytest.mark.parametrize(
    ("terms", "dropped"),
    [
        ({CITY: "哥本哈根", HOUSE: "雪梨歌劇院"}, []),
        ({PERSON: "約恩・烏松", HOUSE: "悉尼歌剧院"}, [HOUSE]),
        ({PERSON: "約恩・烏松", CITY: "翻譯：哥本哈根"}, [CITY]),
        ({PERSON: "約恩・烏松", CITY: "哥本哈根是丹麥王國的首都" * 8}, [CITY]),
        # One rendering for everything.
        (dict.fromkeys((CITY, HOUSE, PERSON), "台北"), [CITY, HOUSE, PERSON]),
    ],
)
def test_a_rendering_that_fails_a_gate_is_dropped_with_a_doubt(
    task: TranslationTask, terms: dict[str, str], dropped: list[str]
) -> None:
    rows = [{"source": source, "target": target} for source, target in terms.items()]
    answer = ChatAnswer(json.dumps({"terms": rows}), "stop", None, 1, 1, "m")
    verdict = task.check(TranslationRequest("q", "terms", "en", TEXT), answer)
    assert not verdict.refusals
    kept = dict(parse_terms(verdict.text, TEXT)[0])
    assert kept == {source: terms[source] for source in terms if source not in dropped}
    pairs = zip(sorted(verdict.doubts), sorted(dropped), strict=True)
    assert all(doubt.startswith(source) for doubt, source in pairs)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            '{"translation": "⟦約恩・烏松⟧設計了什麼？"}',
            "it has the marks ⟦ ⟧, though the text has none",
        ),
        (
            '{"translation": "約恩・烏松設計了什麼？"',
            "the answer is not the JSON that was asked for",
        ),
    ],
)
def test_a_translation_in_another_form_is_refused(
    text: str, reason: str, task: TranslationTask
) -> None:
    request = TranslationRequest("q", "question", "en", "What did Jørn Utzon design?")
    verdict = task.check(request, ChatAnswer(text, "stop", None, 1, 1, "m"))
    assert verdict.refusals == [reason]


@pytest.mark.parametrize(
    ("translation", "used"), [("約恩・烏松設計了什麼？", True), ("約恩設計了什麼？", False)]
)
def test_a_rendering_of_the_glossary_that_is_not_used_is_a_doubt(
    task: TranslationTask, translation: str, used: bool
) -> None:
    text, context = "What did Jørn Utzon design?", {"glossary": [(PERSON, "約恩・烏松")]}
    request = TranslationRequest("q", "question", "en", text, context)
    reply = json.dumps({"translation": translation})
    verdict = task.check(request, ChatAnswer(reply, "stop", None, 1, 1, "m"))
    assert not verdict.refusals
    assert any("約恩・烏松" in doubt for doubt in verdict.doubts) != used


def test_a_list_of_terms_that_cannot_be_read_is_kept_as_an_empty_one(task: TranslationTask) -> None:
    answer = ChatAnswer("- Copenhagen: 哥本哈根", "stop", None, 1, 1, "m")
    verdict = task.check(TranslationRequest("q", "terms", "en", TEXT), answer)
    assert (verdict.text, verdict.refusals) == ('{"terms": []}', [])
    assert "not valid JSON" in verdict.doubts[0]


def test_a_translation_that_lost_its_marks_is_doubted(task: TranslationTask) -> None:
    request = TranslationRequest("d", "content", "en", "It was ⟦Ann⟧.", {"marked": True})
    kept, lost = (
        task.check(request, ChatAnswer(text, "stop", None, 1, 1, "m"))
        for text in ("是⟦安⟧。", "是安。")
    )
    assert (kept.refusals, kept.doubts) == (lost.refusals, []) == ([], [])
    assert lost.doubts == ["the marks ⟦ ⟧ around the answer are gone"]
