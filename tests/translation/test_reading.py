"""A model that reads translations a second time, beside a loopback provider."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bears.errors import ConfigurationError
from bears.llm.prompt import SystemPrompt
from bears.llm.wire import ChatAnswer
from bears.translation.reading import SHAPE, Remark, check, tenable
from stages import verify
from tests.desk import Desk
from tests.fake_reader import said
from tests.provider_server import ProviderServer
from tests.workspace import finished

MEMORY, FINDINGS = "data/memory/mini.proofreadings.jsonl", "data/mini/verified/findings.jsonl"
QUESTIONS = 10
"""Of mini, those that are translated."""
At = Callable[..., tuple[Desk, ProviderServer]]


@pytest.fixture
def at(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[At]:
    """Give a function that makes a desk with mini, translated, and a server that reads."""
    servers: list[ProviderServer] = []

    def made(behaviour: str = "diligent", **faults: Any) -> Any:
        server = ProviderServer(f"tests.fake_reader:{behaviour}", **faults).__enter__()
        servers.append(server)
        workspace = finished(tmp_path_factory.getbasetemp())[0].copied(tmp_path / f"{len(servers)}")
        words = (f"reader.base_url={server.url}", "reader.api_key_env=''")
        return Desk(workspace.root, ("reader=gpt-4.1-mini", *words)), server

    yield made
    for server in servers:
        server.__exit__()


def remarked(desk: Desk) -> list[tuple[str, str, str]]:
    """Severity, field and message of what was read, in the order of the records."""
    desk.stage("verify", verify.main)
    rows = [json.loads(line) for line in (desk.root / FINDINGS).read_text().splitlines()]
    return [(r["severity"], r["field"], r["message"][:8]) for r in rows if r["check"] == "reading"]


EXPECTED = [("warning", "question", "changed:")] * QUESTIONS


def test_translations_are_read_once_and_every_remark_that_holds_is_a_warning(at: At) -> None:
    desk, server = at()
    missing = desk.stage("verify", verify.main, code=1)
    assert "readings by gpt-4.1-mini" in missing
    assert "memory fill reader=gpt-4.1-mini, then" in missing
    plan = desk.run("plan")
    assert f"{QUESTIONS} question" in plan
    assert "proofreadings stored" in desk.run("fill", "--yes")
    desk.run("publish")
    asked = server.stats()["requests"]
    server.change(status=500)
    assert remarked(desk) == EXPECTED
    assert server.stats()["requests"] == asked
    # Native texts are nobody's translation.
    sources = [json.loads(each["messages"][-1]["content"])["source"] for each in server.prompts()]
    assert all(source.isascii() or not source[0] >= "一" for source in sources)
    before = (desk.root / FINDINGS).read_bytes()
    other, _ = at()
    (other.root / MEMORY).write_bytes((desk.root / MEMORY).read_bytes())
    assert remarked(other) == EXPECTED
    assert (other.root / FINDINGS).read_bytes() == before
    # Without a reader nothing is read, and nothing is needed.
    (other.root / MEMORY).unlink()
    assert remarked(Desk(other.root, ())) == []


@pytest.mark.slow
def test_an_answer_that_is_no_reading_is_asked_for_again_and_never_kept(at: At) -> None:
    desk, server = at("bad")
    stored = desk.run("fill", "--yes")
    desk.run("publish")
    assert remarked(desk) == EXPECTED
    path = desk.root / MEMORY
    first, *others = path.read_text().split("\n")[:-1]
    assert f"{1 + len(others)} proofreadings stored" in stored
    assert server.stats()["requests"] == 2 * (1 + len(others))
    # What a person spoilt is named.
    row = json.loads(first)
    path.write_text("\n".join([json.dumps(row | {"proofreading": "{}"}), *others, ""]))
    told = desk.stage("verify", verify.main, code=1)
    assert f"the reading of {row['text']!r:.60}" in told


@pytest.mark.parametrize("around", ["{}", "Here it is:\n```json\n{}\n```", "```\n{}```\nDone."])
def test_an_answer_is_read_whatever_stands_around_it(around: str) -> None:
    text = around.replace("{}", said(("lost", "first", "")))
    checked = check(ChatAnswer(text, "stop", None, 1, 1, "m"))
    assert (checked.refusals, SHAPE.kept(checked.text, "it")["remarks"][0]["source"]) == (
        [],
        "first",
    )


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
        # It stands there, as the original of a name.
        ("lost", "Ann", "", False),
        ("added", "", "（Ann）", False),
        ("added", "", "一座", True),
        ("added", "", "兩座", False),
        ("added", "", "", False),
    ],
)
def test_a_remark_counts_where_its_quotations_stand(
    kind: Any, source: str, translation: str, holds: bool
) -> None:
    remark = Remark(kind=kind, source=source, translation=translation)
    assert tenable([remark, remark], SOURCE, TRANSLATION) == [remark] * holds


def test_a_prompt_that_names_what_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"a brace is written \{\{ or"):
        SystemPrompt("reading", 1, 'Reply {"remarks": []}.')
