"""Keys, the files of kept replies, and imports of published sets."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bears.errors import FormatError, RepliesCorrupt
from bears.llm.use import KeptReplies, KeptReply, load
from bears.translation.published import import_published
from bears.translation.translator import NAME, TranslationRequest, Translator
from bears.types import Document, Question
from tests.translating import write_published

TRANSLATOR = Translator("published", {"model": "m", "options": {"a": 1, "b": 2}}, "zh-Hant-TW")
REQUEST = TranslationRequest("q1", "question", "en", "Who?")
ENTRIES = [
    KeptReply(f"{n:02}", record_id, "content", f"text {n}", f"第{n}段\u2028{record_id}")
    for n in range(4)
    for record_id in ("", "r1", "r2")
]


def test_a_key_has_all_parts_except_the_record_and_the_order_of_parameters() -> None:
    others = [
        replace(TRANSLATOR, name="other").key(REQUEST),
        replace(TRANSLATOR, request={"model": "n", "options": {"a": 1, "b": 2}}).key(REQUEST),
        replace(TRANSLATOR, request={"model": "m", "options": {"a": 1, "b": 3}}).key(REQUEST),
        replace(TRANSLATOR, target="zh-Hans-CN").key(REQUEST),
        TRANSLATOR.key(replace(REQUEST, source_language="de")),
        TRANSLATOR.key(replace(REQUEST, field="gold_answer")),
        TRANSLATOR.key(replace(REQUEST, text="Who? ")),
    ]
    assert len({*others, TRANSLATOR.key(REQUEST)}) == len(others) + 1
    same = replace(TRANSLATOR, request={"options": {"b": 2, "a": 1}, "model": "m"})
    assert same.key(REQUEST) == TRANSLATOR.key(replace(REQUEST, record_id="q2"))


def test_a_key_is_the_same_on_every_machine_and_in_every_version() -> None:
    """Kept replies are in git: a new key would orphan all of them."""
    translator = Translator("published", {}, "zh-Hant-TW")
    assert translator.key(TranslationRequest("any", "question", "en", "Café «x»?")) == (
        "01cdf76653213fcc2667b61abb6a1a8bcf65cdd447e58ca10bfc7f662dc99c71"
    )
    parameters = {"model": "m", "language": {"b": 'ß"', "a": "\u2028"}, "t": 0.3}
    context = {"marked": True, "glossary": [["a", "あ"]], "again": 2}
    request = TranslationRequest("any", "content", "en", 'Café\n"x" \\ 😀', context)
    assert Translator("bundle", parameters, "ja").key(request) == (
        "95b9650ee9740617687be9c3dd7ab3a0dbef733ef4498012674f28da6c532627"
    )


def test_replies_are_saved_in_sorted_order_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    shuffled = random.Random(0).sample(ENTRIES, len(ENTRIES))
    replies = KeptReplies(shuffled[:9])
    replies.add(*shuffled[9:])
    replies.save(path, NAME)
    assert [json.loads(line)["text"] for line in path.read_bytes().splitlines()] == [
        entry.text for entry in ENTRIES
    ]
    assert list(load(path, NAME)) == ENTRIES


def test_the_replies_of_mini_are_saved_to_the_byte(tmp_path: Path) -> None:
    mini = Path(__file__).resolve().parents[2] / "data" / "memory" / "mini.jsonl"
    load(mini, NAME).save(tmp_path / "mini.jsonl", NAME)
    assert (tmp_path / "mini.jsonl").read_bytes() == mini.read_bytes()


def test_a_reply_for_one_record_takes_precedence_and_a_later_one_replaces_it() -> None:
    replies = KeptReplies(ENTRIES[:2])
    assert [replies.get("00", "r1"), replies.get("00", "r2")] == [ENTRIES[1], ENTRIES[0]]
    assert replies.get("01", "r1") is None
    replies.add(replace(ENTRIES[0], answer="新"), ENTRIES[3])
    assert len(replies) == 3
    assert replies.get("00", "") == replace(ENTRIES[0], answer="新")


def test_replies_that_disagree_are_refused() -> None:
    KeptReplies([ENTRIES[0], ENTRIES[0]])
    with pytest.raises(RepliesCorrupt, match=r"two replies for 'text 0'.*with key 00"):
        KeptReplies([ENTRIES[0], replace(ENTRIES[0], answer="另一段")])


GOOD = '{"key": "k", "record_id": "", "field": "content", "text": "t", "translation": "譯"}'


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (GOOD.replace("譯", " "), RepliesCorrupt),
        (GOOD.replace('"譯"', "null"), RepliesCorrupt),
        (GOOD.replace("}", ', "more": ""}'), RepliesCorrupt),
        ('["k", "", "content", "t", "譯"]', RepliesCorrupt),
        (GOOD[:-5], FormatError),
        ("", FormatError),
    ],
)
def test_a_malformed_line_is_named(line: str, error: type[Exception], tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    file.write_text(f"{GOOD}\n{GOOD}\n{line}\n{GOOD}\n", encoding="utf-8")
    with pytest.raises(error, match=r"m\.jsonl, line 3: "):
        load(file, NAME)


QUESTIONS = [
    Question("q1", "誰？", "安", ("d1",), "drcd", "single-hop"),
    Question("q2", "Who?", "Ann", ("d2",), "hotpotqa", "multi-hop"),
]
DOCUMENTS = [
    Document("d1", "安寫的。", "drcd", "1", True),
    Document("d2", "Ann wrote it.", "hotpotqa", "2", True),
]
LANGUAGES = {"drcd": "zh-Hant-TW", "hotpotqa": "en"}
Change = Callable[[list[dict[str, Any]]], None]


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("queries.json", lambda rows: rows.pop(), r"queries.* lacks q2"),
        ("corpus.json", lambda rows: rows.pop(), r"corpus.* lacks d2"),
        ("queries.json", lambda rows: rows[0].update(question="誰"), "question of q1 is in the"),
        ("queries_raw.json", lambda rows: rows[1].update(source_dataset="x"), "source x is not"),
        ("queries.json", lambda rows: rows[1].update(question=" "), "question of q2 has an empty"),
        ("corpus.json", lambda rows: rows[1].pop("is_gold"), "record 2: is_gold: Field required"),
    ],
)
def test_a_set_whose_files_disagree_is_refused(
    file: str, change: Change, message: str, tmp_path: Path
) -> None:
    questions = [QUESTIONS[0], replace(QUESTIONS[1], question="是誰？", gold_answer="安（Ann）")]
    documents = [DOCUMENTS[0], replace(DOCUMENTS[1], content="安寫了它。")]
    write_published(tmp_path, QUESTIONS, DOCUMENTS, questions, documents)
    rows = json.loads((tmp_path / file).read_bytes())
    change(rows)
    (tmp_path / file).write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        import_published(tmp_path, LANGUAGES, TRANSLATOR)
