"""Questions that a model writes: what is thrown away, what is kept, and that it says so."""

import csv
import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bears.evaluation.comparison.result import compare
from bears.evaluation.comparison.table import shown
from bears.evaluation.results import table
from bears.files.benchmark_state import benchmark_state
from bears.files.manifest import seal
from bears.files.records import read_questions, write_json, write_records
from bears.layout import CONFIG, PARAMS, RETRIEVAL, BenchmarkFiles
from bears.publishing.finished import Finished
from bears.publishing.leaderboard.tables import markdown
from bears.questions.form import Form, Written
from bears.questions.settings import MadeSettings
from bears.results.revision import Revision
from bears.results.row import row_of
from bears.results.system import System
from bears.sources.parts import pool_document
from bears.types import Document, Generated, Question
from stages import translate, verify
from tests.desk import Desk
from tests.languages import load
from tests.questioning import (
    SAMPLED,
    Making,
    made,
    making,
    not_kept,
    outcomes,
    published,
    questions,
    sampled,
    stones,
)
from tests.scripted_model import KINDS, asked, miner, text

__all__ = ["making"]


def test_each_mistake_of_a_writer_is_thrown_away_for_its_own_reason(making: Making) -> None:
    at, _ = making("messy", stones(KINDS))
    reasons = ["", "answer_not_in_passage", "names_passage", "leaks_answer", "copies_passage"]
    reasons += ["leans", "nothing_written", "closed_book", "unanswerable", "nothing_written"]
    reasons += ["several_answers", "other_question"]
    assert outcomes(published(at)) == {f"d{n}": why for n, why in enumerate(reasons)}


def test_what_a_writer_is_told_it_mends_and_what_nothing_mends_is_counted(making: Making) -> None:
    at, _ = making("patient", stones(KINDS))
    printed = sampled(published(at))
    assert {row["documents"]: row["filter"] for row in not_kept(at)} == {
        "d7": "closed_book", "d8": "unanswerable", "d10": "several_answers", "d11": "other_question"
    }  # fmt: skip
    assert "8 questions, 12 documents" in printed
    assert "thrown: 1: closed_book" in printed


HOLDS = pool_document(
    "drcd", "holds", f"Boulder number 10 is well known to one called {miner(10)}."
)
TWIN = pool_document(
    "drcd", "twin", f"Boulder number 10 was unearthed by one called {miner(10)}, says Bo."
)
WAITS = pool_document("drcd", "waits", f"{text(11)} It is well known.")
"""The reader asks another question about it, so that its question waits for a person."""
STONES_ONLY = ("sample.passages=12", "sample.passage_bytes=[100,6000]")
"""No questions about the documents above."""


@pytest.mark.slow
def test_what_answers_too_is_gold_too(making: Making) -> None:
    at, _ = making("good", stones(KINDS, TWIN, HOLDS), *STONES_ONLY)
    assert set(outcomes(published(at)).values()) == {""}
    gold = {each["gold_answer"]: each["gold_doc_ids"] for each in questions(at)}
    assert gold[miner(10)] == ["d10", "twin"]
    verified(at)


def verified(at: Desk) -> dict[str, Any]:
    """What the gates of every benchmark say; it fails where one of them closes."""
    (at.root / "data/memory/made.jsonl").touch()
    at.stage("translate", translate.main)
    at.stage("verify", verify.main)
    found: dict[str, Any] = json.loads((at.root / "metrics/verification.json").read_text())
    return found


def decided(at: Desk, decide: Callable[[dict[str, str]], dict[str, str]]) -> None:
    """Export what waits, have a person write into it, and import it."""
    file = at.root / "review.csv"
    at.run("review", f"--export={file}")
    with file.open(newline="", encoding="utf-8") as stream:
        rows = [row | decide(row) for row in csv.DictReader(stream)]
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    at.run("review", f"--import={file}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        ({"decision": "accept"}, asked(11)),
        ({"decision": "correct", "text": "Who dug up the eleventh?"}, "Who dug up the eleventh?"),
        ({"decision": "retranslate"}, None),
    ],
)
def test_a_person_accepts_corrects_or_sends_back_what_waits(
    making: Making, decision: dict[str, str], expected: str | None
) -> None:
    at, server = making("good", [*stones(KINDS - 1), WAITS])
    published(at)
    decided(at, lambda row: decision if row["field"] == "question" else {})
    if expected is None:
        before = len(server.prompts())
        published(at)
        sent = [each["messages"][0]["content"] for each in server.prompts()[before:]]
        assert "A person sent back question number 1; ask another." in sent[0]
        assert outcomes(at)["waits"] == "other_question"
    else:
        assert outcomes(at)["waits"] == ""
        assert expected in {each["question"] for each in questions(at)}
        verified(at)


@pytest.mark.slow
def test_of_questions_that_are_alike_the_first_is_taken(making: Making) -> None:
    at, _ = making("good", stones(KINDS))
    # All ask alike where little has to be common.
    alike = Counter(outcomes(published(at), "sample.alike=0.4").values())
    assert alike == {"": 1, "near_duplicate": KINDS - 1}


def test_without_key_and_server_the_same_bytes_come_again_and_say_that_a_model_wrote_them(
    making: Making,
) -> None:
    at, server = making("messy", stones(KINDS))
    sampled(published(at))
    first = {file.name: file.read_bytes() for file in (at.root / SAMPLED).iterdir()}
    before = server.stats()["requests"]
    shutil.rmtree(at.root / SAMPLED)
    shutil.rmtree(at.root / ".bears")
    away = replace(at, overrides=tuple(w for w in at.overrides if "base_url" not in w))
    sampled(away)
    assert {file.name: file.read_bytes() for file in (at.root / SAMPLED).iterdir()} == first
    assert server.stats()["requests"] == before
    assert {json.dumps(each["generated"]) for each in questions(at)} == {
        '{"model": "gpt-4.1-mini", "written": 12, "kept": 1}'
    }
    assert {"not_kept.csv", "lineage.jsonl"} < set(first)
    missing = sampled(away, "questioner.model=another", code=1)
    assert "missing from the kept replies: 12 questions by gpt-4.1-mini (12 question)" in missing


def test_generated_stands_beside_the_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Generated("m", 60, 37)
    asked = Question("q", "Who?", "Ada", ("d",), "s", "single-hop", generated=made)
    monkeypatch.chdir(tmp_path)
    files = Path("data/made/translated/queries.json"), Path("data/made/translated/corpus.json")
    write_records(files[0], [asked])
    write_records(files[1], [Document("d", "Ada.", "s", "d", True)])
    assert read_questions(files[0]) == [asked]
    told = benchmark_state("made", "", 1, *files).as_dict()
    assert [told[name] for name in ("generated", "kept", "written", "model")] == [True, 37, 60, "m"]
    results = {"benchmark": told, "all": {"n": 1, "mrr": 1.0}, "by_type": {}, "by_source": {}}
    words = "generated: 37 of 60 questions by m were kept"
    assert words in table(results)
    config = {"benchmark": {"name": "made"}, "retriever": {"name": "bm25"}}
    for path, content in ((PARAMS, {"benchmark": "made"}), (CONFIG, config), (RETRIEVAL, results)):
        write_json(path, content)
    row = row_of(Revision("workspace"))
    assert row is not None
    assert row.generated == words
    assert words in markdown([row], {})
    frame = pd.DataFrame({"mrr": [1.0]}, index=["q"])
    systems = [System(name, "", frame, pd.DataFrame(), told) for name in ("a", "b")]
    assert words in shown(compare(systems), "table")
    finished = Finished(config, BenchmarkFiles("made"), [asked], [], [], [])
    assert words in " ".join(finished.about)
    write_records(files[0], [replace(asked, generated=None, question='"generated": who?')])
    assert "generated" not in benchmark_state("made", "", 1, *files).as_dict()


FILTERED = [
    ("en", "Ada Lovelace was born in London in 1815.", "When was Ada Lovelace born?", "1815", ""),
    ("en", "It opened in 1815.", "In what year did it open, as stated in the passage?", "1815",
     "names_passage"),
    ("en", "Cells were kept in agar.", "Which gel was used in the study?", "agar",
     "names_passage"),
    ("en", "On the size of eggs of all known birds across islands, seas and altitudes.",
     "What is the size of eggs of birds across all islands, seas and altitudes?",
     "On the size of eggs of all known birds across islands, seas and altitudes", "leaks_answer"),
    ("en", "He died in 1815.", "When did he die?", "1815", "leans"),
    ("en", "Ada was born in 1815.", "Ada was born in 1815, or what?", "1815", "leaks_answer"),
    ("en", "Ada was born in 1815.", "Ada was born in 1816.", "1815", "not_a_question"),
    ("en", "Ada was born in 1815.", "Who was born? And when?", "1815", "not_a_question"),
    ("en", "Ada was born in 18159.", "When did Ada see the light?", "1815",
     "answer_not_in_passage"),
    ("zh-Hant-TW", "梅德韋傑娃在1999年出生於莫斯科。", "梅德韋傑娃是哪一年出生的？", "1999年", ""),
    ("zh-Hant-TW", "梅德韋傑娃在1999年出生。", "根據文章，梅德韋傑娃何年出生？", "1999年",
     "names_passage"),
    ("zh-Hant-TW", "梅德韋傑娃在1999年出生。", "她是哪一年出生的？", "1999年", "leans"),
    ("zh-Hant-TW", "她在1999年出生。", "梅德韋傑娃是哪個国家的选手？", "1999年", "language"),
    ("zh-Hant-TW", "梅德韋傑娃在1999年出生於莫斯科近郊。", "梅德韋傑娃在1999年出生於莫斯科近郊？",
     "莫斯科近郊", "leaks_answer"),
    ("ja", "東京タワーは1958年に完成した。", "この文章によると、東京タワーはいつ完成しましたか？",
     "1958年", "names_passage"),
    ("ja", "東京タワーは1958年に完成した。", "彼はいつ塔を完成させましたか？", "1958年", "leans"),
    ("ko", "남산타워는 1969년에 착공되었다.", "본문에 따르면 언제 착공되었나요?", "1969년",
     "names_passage"),
    ("ko", "남산타워는 1969년에 착공되었다.", "그는 언제 그것을 지었나요?", "1969년", "leans"),
    ("de", "Der Dom wurde 1880 vollendet.", "Wann wurde laut dem Text der Dom fertig?", "1880",
     "names_passage"),
    ("de", "Der Dom wurde 1880 vollendet.", "Wann wurde er fertig gebaut?", "1880", "leans"),
    ("sl", "Grad so zgradili leta 1144.", "Kdaj so po besedilu zgradili grad?", "1144",
     "names_passage"),
    ("sl", "Grad so zgradili leta 1144.", "Kdaj so ga postavili na hribu?", "1144", ""),
]  # fmt: skip


@pytest.mark.parametrize(("tag", "passage", "question", "answer", "first"), FILTERED)
def test_words_alone_throw_a_question_away(
    tag: str, passage: str, question: str, answer: str, first: str
) -> None:
    found = form(tag).faults(Written(question, answer), passage)
    assert [name for name, _ in found][:1] == ([first] if first else [])


def form(tag: str) -> Form:
    profile = None if tag == "en" else load(tag)
    return Form(MadeSettings(source="s", passages=1, bm25={}), tag, profile)


def test_questions_of_people_pass_the_filters_of_words(shared_data: Path) -> None:
    """Of DRCD's test set; what they throw of people's questions they would throw of good ones."""
    file = json.loads((shared_data / "official/DRCD_test.json").read_text(encoding="utf-8"))
    paragraphs = [paragraph for article in file["data"] for paragraph in article["paragraphs"]]
    judge, found, asked = form("zh-Hant-TW"), Counter[str](), 0
    for paragraph in paragraphs[::8]:
        for each in paragraph["qas"]:
            draft = Written(each["question"].strip(), each["answers"][0]["text"])
            found.update(name for name, _ in judge.faults(draft, paragraph["context"]))
            asked += 1
    assert asked > 300
    copies = found.pop("copies_passage")
    assert copies <= 0.08 * asked
    assert found.total() <= 0.03 * asked


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("+sample.filters.leak=off", "sample.filters.leak"),
        ("+sample.filters.replaced=flag", "sample.filters.replaced"),
        ("sample.passages=0", "sample.passages"),
        ("sample.passages=99", "of 3 passages 3 have 10 to 6000 bytes"),
        ("questioner=none", "has no model, prompt or reader; choose one that has"),
        ("benchmark.language=de", "select it: -S language=de"),
        ("sample.source=nowhere", "sample.source is nowhere"),
    ],
)
def test_what_cannot_be_made_is_said_in_a_sentence(
    tmp_path: Path, override: str, told: str
) -> None:
    at = made(tmp_path, "", stones(3))
    if override.startswith("questioner"):
        at = replace(at, overrides=tuple(w for w in at.overrides if "questioner" not in w))
    said = sampled(at, override, code=1)
    assert told in said
    assert "Traceback" not in said


def test_no_question_is_asked_about_documents_of_another_path(tmp_path: Path) -> None:
    said = made(tmp_path, "", stones(3)).run("plan", "+sources.drcd.path=/data/mine", code=1)
    assert "sources.drcd.path is /data/mine, but" in said
    assert "was read from the hub or a mirror; choose it for `dvc repro download` too" in said


def test_a_source_may_have_another_name_than_its_key(tmp_path: Path) -> None:
    """conf/benchmark/own.yaml gives it that of the benchmark."""
    at = made(tmp_path, "", stones(3), "sources.drcd.name=mine")
    origin = at.root / "data/raw/made/sources.json"
    origin.write_text('[{"source": "mine", "path": "/data/mine"}]', encoding="utf-8")
    seal([origin], {})
    assert "3 question" in at.run("plan", "+sources.drcd.path=/data/mine")
    told = at.run("plan", code=1)
    assert "sources.drcd.path is empty, but data/raw/made/rows was read from /data/mine" in told
