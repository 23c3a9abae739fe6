"""The commands around a fill: price, budget, terminals, glossaries, keys, `fill: auto`."""

from __future__ import annotations

import io
import json
import re
import sys

import pytest

from bears.translation.glossary import read_glossary
from stages import translate
from tests.desk import ASKED, SAMPLED, Desk, Here, asked, here

__all__ = ["here"]

KEY = "sk-test-SECRET"


def test_the_plan_shows_the_price_and_its_source(here: Here) -> None:
    at, server = here()
    printed = at.run("plan")
    lines = (line.split("  ", 1) for line in printed.splitlines())
    plan = {name: value.strip() for name, value in lines}
    assert plan["calls"] == "44 content, 8 question, 8 terms"
    low, high = plan["price"].removeprefix("US$ ").split(" to ")
    assert 0 < float(low) < float(high)
    assert plan["per million tokens"] == "2.0 in, 8.0 out"
    assert re.fullmatch(r"tokenmath\.io.*\(2026-06-21\)", plan["price from"])
    assert server.stats().get("requests", 0) == 0
    at.run("fill")
    for name in ("input", "output"):
        least, most = plan[f"{name} tokens"].replace(",", "").split(" to ")
        assert int(least) <= sum(row[f"{name}_tokens"] for row in at.rows()) <= int(most)
    assert "calls               none" in at.run("plan")


@pytest.mark.slow
def test_a_model_without_a_price_is_refused_unless_one_is_given(here: Here) -> None:
    at, server = here()
    at = at.also("translator.model=nobody")
    for command in ("plan", "fill"):
        assert "no price is known for the model 'nobody'" in at.run(command, code=1)
    assert server.stats().get("requests", 0) == 0
    for command in ("plan", "fill"):
        printed = at.run(command, "translator.price={input: 1, output: 2}")
        assert "1.0 in, 2.0 out" in printed
        assert "translator.price (no date)" in printed


def test_a_budget_is_not_exceeded_and_the_next_fill_continues(here: Here) -> None:
    at, server = here(latency=0.01)
    printed = at.run("fill", "translator.budget=0.05", code=1)
    rows = at.rows()
    spent = sum(2 * row["input_tokens"] + 8 * row["output_tokens"] for row in rows) / 1e6
    assert 0.005 < spent <= 0.05
    assert server.stats()["requests"] == len(rows)
    assert "the budget of 0.05 USD is used up" in printed
    missing = int(printed.split("bears: ")[1].split()[0])
    assert missing == ASKED - len(rows)
    assert "nothing is missing" in at.run("fill", "translator.budget=1")
    wanted = asked(server.prompts())
    assert len(wanted) == len(set(wanted)) == ASKED


def test_without_a_key_or_with_an_impossible_limit_nothing_is_sent(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, server = here()
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for override, message in (
        ("budget=-1", "translator.budget: Input should be greater than or equal to 0"),
        ("asks=0", "translator.asks: Input should be greater than 0, found 0"),
        ("api_key_env=OPENAI_API_KEY", "the environment variable OPENAI_API_KEY is not set"),
    ):
        assert message in at.run("fill", f"translator.{override}", code=1)
    assert server.stats().get("requests", 0) == 0


def test_replies_can_be_thrown_away_and_are_then_asked_for_again(here: Here) -> None:
    at, server = here()
    at.run("fill")
    at.run("publish")
    file = at.root / "data/memory/mini.jsonl"
    before, rows = file.read_bytes(), at.rows()
    usd = sum(2 * row["input_tokens"] + 8 * row["output_tokens"] for row in rows) / 1e6
    listed = at.run("discard", "--list")
    assert f"{ASKED} translations into" in listed
    assert f"which cost US$ {usd:.4f}" in listed
    assert listed.count(" → ") == 10
    assert "--yes discards without asking" in at.run("discard", code=1)
    assert (file.read_bytes(), at.rows()) == (before, rows)
    assert f"{ASKED} discarded" in at.run("discard", "--yes")
    assert at.rows() == []
    assert not file.read_bytes().strip()
    at.run("fill")
    at.run("publish")
    assert server.stats()["requests"] == 2 * ASKED
    assert len(file.read_bytes().splitlines()) == len(before.splitlines())


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_at_a_terminal_nothing_is_spent_without_a_yes(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, server = here()
    for typed, code in (("n\n", 1), ("\n", 1), ("y\n", 0)):
        assert server.stats().get("requests", 0) == 0
        monkeypatch.setattr(sys, "stdin", Terminal(typed))
        assert "Ask the model now? [y/N]" in at.run("fill", code=code)
    assert server.stats()["requests"] == ASKED


@pytest.mark.slow
def test_a_corrected_glossary_enters_the_requests(here: Here) -> None:
    at, server = here("moody")
    at.run("fill")
    file = at.root / "terms.csv"
    assert " terms" in at.run("glossary", str(file))
    term = next(term for term in read_glossary(file) if term.source_language == "en")
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(term.rendering, "ԶԶԶԶ", 1), encoding="utf-8")
    before = len(server.prompts())
    corrected = at.also(f"translator.glossary={file.name}")
    corrected.run("fill")
    printed = [p["messages"][-1]["content"] for p in server.prompts()[before:]]
    assert any(f"- {term.source} → ԶԶԶԶ" in prompt for prompt in printed)
    corrected.run("publish")
    corrected.stage("translate", translate.main)
    texts = corrected.texts().values()
    holding = [after for source, after in texts if f" {term.source} " in source]
    assert holding
    assert all("ԶԶԶԶ" in after for after in holding)
    assert not any(term.rendering in after for after in holding)


def _assert_secret(at: Desk, *printed: str) -> None:
    """Assert that neither the output nor any file contains the key, or much of it."""
    for text in printed:
        assert "sk-test" not in text
    for path in at.root.rglob("*"):
        if path.is_file() and path.name != ".env":
            assert b"sk-test" not in path.read_bytes(), path


@pytest.mark.slow
def test_a_key_that_a_server_repeats_is_never_shown(here: Here) -> None:
    at, _ = here(status=400)
    words = ("translator.api_key_env=OPENAI_API_KEY",)
    process = at.start("fill", *words, OPENAI_API_KEY=KEY)
    printed, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "[key]" in errors
    assert (at.root / ".bears").is_dir()
    _assert_secret(at, printed, errors)


def test_a_key_at_the_edge_of_a_message_is_not_shown_in_part(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, _ = here("leaky")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    printed = at.run("fill", "translator.api_key_env=OPENAI_API_KEY", code=1)
    assert "[key]" in printed
    file = at.root / "review.csv"
    printed += at.run("review", "--export", str(file), "translator.api_key_env=OPENAI_API_KEY")
    assert "status 400" in file.read_text(encoding="utf-8")
    _assert_secret(at, printed)


@pytest.mark.slow
def test_the_stage_fills_by_itself_if_allowed_and_the_key_is_set(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, server = here(key=KEY)
    keyed = at.also("translator.api_key_env=OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    printed = keyed.stage("translate", translate.main, "translator.fill=auto", code=1)
    assert "missing from the kept replies" in printed
    (keyed.root / ".env").write_text(f"OPENAI_API_KEY={KEY}\n", encoding="utf-8")
    assert "missing from the kept replies" in keyed.stage("translate", translate.main, code=1)
    assert server.stats().get("requests", 0) == 0
    keyed.stage("translate", translate.main, "translator.fill=auto")
    assert server.stats()["requests"] == ASKED
    assert keyed.replies.count(b"\n") == ASKED
    keyed.stage("translate", translate.main)
    written = {path.stem for path in (keyed.root / "data/mini/translated").iterdir()}
    assert written == {"queries", "corpus", "sidecar", "manifest"}
    _assert_secret(keyed, *map(str, keyed.root.rglob("*")))


def ledger(at: Desk, **parts: list[dict[str, str]]) -> None:
    path = at.root / "conf/ledger/mini.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(parts), encoding="utf-8")


def test_a_sample_that_does_not_follow_the_ledger_is_not_filled(here: Here) -> None:
    at, server = here()
    first = at.questions()[0]
    entry = {"question_id": first.question_id, "reason": "it is wrong"}
    ledger(at, replacements=[entry])
    late = f"the ledger was changed (question {first.question_id}); run `dvc repro sample`"
    for command in ("plan", "fill", "publish"):
        assert late in at.run(command, code=1)
    edit = {"record_id": first.question_id, "field": "question", "reason": "a typo"}
    ledger(at, edits=[{**edit, "old": first.question, "new": "Who?"}])
    assert late in at.run("fill", code=1)
    assert server.stats().get("requests", 0) == 0


@pytest.mark.slow
def test_a_sample_that_follows_an_undone_entry_is_not_filled(here: Here) -> None:
    at, server = here()
    first = at.questions()[0].question_id
    notes = {"unmatched_ledger_entries": [], "ledger": sorted([[first], ["a"]])}
    (at.root / SAMPLED / "notes.json").write_text(json.dumps(notes), encoding="utf-8")
    (at.root / SAMPLED / "manifest.json").unlink()
    entries = [{"question_id": each, "reason": f"{each} is wrong"} for each in ("a", first)]
    for every in (entries, entries[::-1]):
        ledger(at, replacements=every)
        at.run("plan")
    for left, gone in ((entries[:1], first), (entries[1:], "a")):
        ledger(at, replacements=left)
        assert f"changed (question {gone}); run `dvc repro sample`" in at.run("fill", code=1)
    assert server.stats().get("requests", 0) == 0
