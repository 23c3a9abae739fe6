"""Proofreading: which translations are read, and which remarks become warnings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bears.errors import ConfigurationError
from bears.llm.prompt import SystemPrompt
from bears.llm.wire import ChatAnswer
from bears.translation.reading import SHAPE, Remark, check, tenable
from stages import verify
from tests.desk import Desk
from tests.provider_server import ProviderServer
from tests.scripted_model import remarks
from tests.workspace import finished

REPLIES, FINDINGS = "data/memory/mini.proofreadings.jsonl", "data/mini/verified/findings.jsonl"
QUESTIONS = 10
"""The translated questions of mini."""


def remarked(desk: Desk) -> list[tuple[str, str, str]]:
    """Return severity, field and message of each remark, in the order of the records."""
    desk.stage("verify", verify.main)
    rows = [json.loads(line) for line in (desk.root / FINDINGS).read_text().splitlines()]
    return [(r["severity"], r["field"], r["message"][:8]) for r in rows if r["check"] == "reading"]


@pytest.mark.slow
def test_translations_are_read_and_every_remark_that_can_be_true_is_a_warning(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = finished(tmp_path_factory.getbasetemp())[0].copied(tmp_path / "copy").root
    with ProviderServer("tests.scripted_model:good") as server:
        words = (f"reader.base_url={server.url}", "reader.api_key_env=''")
        desk = Desk(root, ("reader=gpt-4.1-mini", *words))
        assert "replies fill reader=gpt-4.1-mini, then" in desk.stage("verify", verify.main, code=1)
        assert f"{QUESTIONS} question" in desk.run("plan")
        desk.run("fill", "--yes")
        desk.run("publish")
        prompts = server.prompts()
    assert remarked(desk) == [("warning", "question", "changed:")] * QUESTIONS
    # Native texts are not translations.
    sources = [json.loads(each["messages"][-1]["content"])["source"] for each in prompts]
    assert all(source.isascii() or not source[0] >= "一" for source in sources)
    # Without a reader, no replies are needed.
    (root / REPLIES).unlink()
    assert remarked(Desk(root, ())) == []


def test_text_around_the_json_of_an_answer_is_ignored() -> None:
    text = f"Here it is:\n```json\n{remarks(('lost', 'first', ''))}```\nDone."
    checked = check(ChatAnswer(text, "stop", None, 1, 1, "m"))
    assert checked.refusals == []
    assert SHAPE.kept(checked.text, "it")["remarks"][0]["source"] == "first"


SOURCE, TRANSLATION = "The first mill, built 1861 by Ann.", "安（Ann）於1862年建了一座磨坊。"


@pytest.mark.parametrize(
    ("kind", "source", "translation", "holds"),
    [
        ("changed", "built  1861", "1862年", True),
        ("changed", "Built 1861", "1863年", False),
        ("changed", "1871", "1862年", False),
        ("changed", "1861", "", False),
        ("changed", "Ann", "Ann", False),
        ("lost", "first", "", True),
        ("lost", "second", "", False),
        # It is in the translation, as the original of a name.
        ("lost", "Ann", "", False),
        ("added", "", "（Ann）", False),
        ("added", "", "一座", True),
        ("added", "", "兩座", False),
        ("added", "", "", False),
    ],
)
def test_a_remark_counts_if_its_quotations_are_where_they_should_be(
    kind: Any, source: str, translation: str, holds: bool
) -> None:
    remark = Remark(kind=kind, source=source, translation=translation)
    assert tenable([remark, remark], SOURCE, TRANSLATION) == [remark] * holds


def test_a_prompt_with_an_unknown_name_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"a brace is written \{\{ or"):
        SystemPrompt("reading", 1, "In {language}")
