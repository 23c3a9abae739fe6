"""Generators and judges are chosen like retrievers: by the class that their file names."""

from __future__ import annotations

import pytest

from bears.answers.judging.chosen import judge_of
from bears.answers.settings import generator_of
from bears.config import compose
from tests.workspace import ROOT

CONF = ROOT / "conf"
SELECTION = {
    "benchmark": "mini",
    **{"retriever": "bm25", "vector_store": "memory", "engine": "local"},
    **{"translator": "published", "rewriter": "none", "generator": "none", "judge": "none"},
}
WORDS = [
    (group, file.stem)
    for group in ("generator", "judge")
    for file in sorted((CONF / group).glob("*.yaml"))
    if file.stem != "none"
]


@pytest.mark.slow
@pytest.mark.parametrize(("group", "word"), WORDS)
def test_every_word_names_its_class(group: str, word: str) -> None:
    given = {"call": "mine:answer"} if (group, word) == ("generator", "mine") else {}
    chosen = {**compose(CONF, {**SELECTION, group: word})[group], **given}
    made = generator_of(chosen) if group == "generator" else judge_of(chosen)
    assert type(made).__name__ == {
        "mine": "OutsideGenerator",
        "sentence": "SentenceGenerator",
        "contains": "Contains",
        "exact": "Exact",
        "nuggets-words": "NuggetWords",
        "citations-words": "CitationWords",
    }.get(word, "ModelJudge" if group == "judge" else "ModelGenerator")
