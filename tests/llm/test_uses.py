"""The memory knows of no use: a toy one is planned, filled, killed, published and replayed."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bears.cli import uses
from bears.llm.kept import PublishedMemory, key_of, load
from bears.llm.models import Price, estimate
from bears.llm.settings import AskingSettings
from bears.llm.use import CheckedReply, Needs
from bears.llm.wire import ChatAnswer, ChatRequest
from tests.desk import ASKED, SMALL, Desk, Here, desk, here
from tests.llm.test_kill import begun, wait_until
from tests.provider_server import ProviderServer

__all__ = ["here"]

WORDS = tuple(f"word{chr(ord('a') + n % 26)}{n}" for n in range(150))
CAPITALS = Path("data/memory/mini.capitals.jsonl")
SAID = "these are no capitals"


@dataclass(frozen=True)
class Word:
    record_id: str
    text: str
    field: str = "word"


@dataclass(frozen=True)
class Capitals:
    """Every word in capitals."""

    settings: AskingSettings
    words: tuple[str, ...] = WORDS
    name = "capital"
    wanted = "words in capitals"
    advice = "read them aloud"

    def resolve(self, known: PublishedMemory) -> Needs[Word]:
        found = Needs[Word]()
        for n, text in enumerate(self.words):
            found.ask(lambda word: known.get(self.key(word), word.record_id), Word(str(n), text))
        return found

    def key(self, request: Word) -> str:
        return key_of({"use": self.name, "model": self.settings.model, "text": request.text})

    def ask(self, request: Word, reasons: list[str]) -> ChatRequest:
        return ChatRequest(self.key(request), ", ".join(reasons), request.text, None, 20)

    def output_tokens(self, request: Word) -> tuple[float, float]:
        return estimate(request.text)

    def check(self, request: Word, answer: ChatAnswer) -> CheckedReply:
        good = answer.text.startswith(request.text.upper())
        return CheckedReply(answer.text, [], [] if good else [SAID])


At = Callable[..., tuple[Desk, ProviderServer]]


@pytest.fixture
def at(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """Give a function that makes a desk where capitals are wanted, and a server that has them."""
    servers = []

    def made(behaviour: str, settings: dict[str, Any] | None = None, **faults: Any) -> Any:
        server = ProviderServer(f"tests.fake_shouter:{behaviour}", **faults).__enter__()
        servers.append(server)
        usual = {"name": "toy", "model": "m", "base_url": server.url, "api_key_env": ""}
        asking = AskingSettings(**{"price": Price(1, 1), **usual, **(settings or {})})
        table = (("", *uses.TRANSLATION), ("", lambda _: Capitals(asking), "capitals"))
        monkeypatch.setattr(uses, "USES", table)
        made = desk(tmp_path / f"at{len(servers)}", tmp_path_factory, server.url)
        return replace(made, overrides=("language=pseudo", *SMALL)), server

    yield made
    for server in servers:
        server.__exit__()


def told(server: ProviderServer) -> list[str]:
    """The words that a server was asked for."""
    return [prompt["messages"][-1]["content"] for prompt in server.prompts()]


def words(desk: Desk) -> dict[str, str]:
    """What is published."""
    lines = (desk.root / CAPITALS).read_text().splitlines()
    return {row["text"]: row["capital"] for row in map(json.loads, lines)}


def test_a_second_use_is_planned_filled_published_and_replayed(at: At) -> None:
    desk, server = at("shout")
    plan = desk.run("plan")
    assert "words in capitals" in plan
    assert f"{len(WORDS)} word\n" in plan
    assert "translations" not in plan
    assert f"{len(WORDS)} answers, {len(WORDS)} capitals stored" in desk.run("fill")
    assert "calls               none" in desk.run("plan")
    assert f"{CAPITALS}: {len(WORDS)} entries, {len(WORDS)} of them new" in desk.run("publish")
    assert words(desk) == {word: word.upper() for word in WORDS}
    assert desk.memory == b""
    assert "nothing is missing" in desk.run("fill")
    assert sorted(told(server)) == sorted(WORDS)
    published = load(desk.root / CAPITALS, "capital")
    needs = Capitals(AskingSettings(name="toy", model="m")).resolve(published)
    assert (len(needs.used), needs.missing) == (len(WORDS), [])


def test_control_characters_that_nobody_wrote_are_refused(at: At) -> None:
    desk, _ = at("broken", {"asks": 1})
    said = desk.run("fill", code=1)
    assert f"{len(WORDS)} answers, 0 capitals stored" in said
    assert "it has control characters" in said


def test_a_request_that_was_not_sent_is_no_answer(at: At) -> None:
    desk, _ = at("shout", {"budget": 0.0})
    assert "0 answers, 0 capitals stored; US$ 0.0000 spent" in desk.run("fill", code=1)


def test_two_uses_share_a_journal_and_no_more(at: At, here: Here) -> None:
    alone, _ = here()
    alone.run("fill")
    alone.run("publish")
    capitals, shouting = at("shout")
    both, server = here()
    assert "nothing is missing" in both.run("fill")
    both.run("publish")
    assert both.memory == alone.memory
    assert words(both) == {word: word.upper() for word in WORDS}
    assert len(both.rows()) == ASKED == server.stats()["requests"]
    assert len(both.rows("capital")) == len(WORDS) == shouting.stats()["requests"]
    capitals.run("fill")
    capitals.run("publish")
    assert (capitals.root / CAPITALS).read_bytes() == (both.root / CAPITALS).read_bytes()


def test_what_a_killed_filling_has_is_not_asked_again(at: At) -> None:
    calm, _ = at("shout")
    calm.run("fill")
    desk, server = at("shout", latency=0.05)
    dice = random.Random(5)
    for _ in range(5):
        before = server.stats().get("requests", 0)
        kept = {row["text"] for row in desk.rows("capital")}
        process = begun(desk)
        enough = before + dice.randint(1, 25)
        wait_until(lambda enough=enough: server.stats().get("requests", 0) >= enough, process)  # type: ignore[misc]
        time.sleep(dice.random() * 0.04)
        process.kill()
        process.join()
        assert not kept & set(told(server)[before:])
        assert kept <= {row["text"] for row in desk.rows("capital")}
    kept = {row["text"] for row in desk.rows("capital")}
    assert 0 < len(kept) < len(WORDS)
    before = len(told(server))
    desk.run("fill")
    assert sorted(told(server)[before:]) == sorted(set(WORDS) - kept)
    for each in (calm, desk):
        each.run("publish")
    assert (calm.root / CAPITALS).read_bytes() == (desk.root / CAPITALS).read_bytes()


def test_tries_are_counted_over_all_runs_and_the_best_doubtful_answer_is_kept(at: At) -> None:
    """Six budgeted runs bought 78 answers once, and stored none."""
    doubtful = [word for word in WORDS if "b" in word]
    desk, server = at("mumble", {"budget": 0.0003, "concurrency": 4})
    codes: list[str] = []
    while not codes or "nothing is missing" not in codes[-1]:
        try:
            codes.append(desk.run("fill"))
        except AssertionError as error:
            codes.append(str(error))
            assert "the budget of 0.0003 USD is used up" in codes[-1]
    assert len(codes) > 3
    asked = Counter(told(server))
    assert asked == {word: 3 if word in doubtful else 1 for word in WORDS}
    desk.run("publish")
    assert words(desk) == {
        word: word.capitalize() if word in doubtful else word.upper() for word in WORDS
    }


def test_half_a_character_is_asked_for_again_and_never_stored(at: At) -> None:
    desk, server = at("halve")
    desk.run("fill")
    assert server.stats()["requests"] == 2 * len(WORDS)
    desk.run("publish")
    assert words(desk) == {word: word.upper() for word in WORDS}
