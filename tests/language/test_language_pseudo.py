"""A text survives the conversion to the pseudo language and back, and passes every gate."""

from __future__ import annotations

import json
import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bears.language.answers import preserved
from bears.language.gates import check
from bears.language.text import Text
from tests.languages import load
from tests.pseudo import decode, encode


@given(st.text())
def test_there_and_back(text: str) -> None:
    assert decode(encode(text)) == text
    assert len(encode(text)) == len(text)


@given(st.text(alphabet="0123456789 .,:;?？!⟦⟧()（）《》「」\n"))
def test_numbers_marks_and_punctuation_stay(text: str) -> None:
    assert encode(text) == text


def test_letters_change() -> None:
    assert encode("Who built ⟦Pier 7⟧ in 1861?") == "Շըկ բյթլմ ⟦Հթեղ 7⟧ թծ 1861?"
    assert encode("臺北在哪裡？").endswith("？")
    mixed = "臺北在哪裡かなカナ한국"
    assert not any(a == b for a, b in zip(encode(mixed), mixed, strict=True))


def test_a_benchmark_in_the_pseudo_language_passes_every_gate(shared_data: Path) -> None:
    language = load("pseudo")
    folder = shared_data / "bears-published"
    contents = {
        document["doc_id"]: document
        for document in json.loads((folder / "corpus_raw.json").read_bytes())
    }
    texts = []
    for question in json.loads((folder / "queries_raw.json").read_bytes()):
        tag = "zh-Hant-TW" if question["source_dataset"] == "drcd" else "en"
        answer = question["gold_answer"]
        asked = question["question"]
        answers = (answer, encode(answer))
        texts += [
            Text("question", asked, encode(asked), tag, language.name, answers),
            Text("gold_answer", answer, encode(answer), tag, language.name),
        ]
        if answer not in ("yes", "no"):
            documents = [encode(contents[i]["content"]) for i in question["gold_doc_ids"]]
            assert preserved(encode(answer), documents, language)
    for document in contents.values():
        tag = "zh-Hant-TW" if document["original_source"] == "drcd" else "en"
        content = document["content"]
        # A lost dash between two dates is restored only next to English months.
        if not re.search(r"[a-z] \d{6}", content):
            texts.append(Text("content", content, encode(content), tag, language.name))
    flagged = [(text.source, flags) for text in texts if (flags := check(text, language, {}))]
    assert flagged == []
