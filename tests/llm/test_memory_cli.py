"""The commands around a filling: price, budget, terminals, glossaries, keys, `fill: auto`."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

from bears.errors import FormatError
from bears.files.records import read_questions
from bears.translation.glossary import read_glossary
from stages import translate
from tests.desk import ASKED, SAMPLED, SMALL, Desk, Here, asked, here

__all__ = ["here"]

KEY = "sk-test-SECRET"

# ------------------------------------------------------------------------- price and budget


def test_the_plan_tells_the_price_and_where_it_is_from(here: Here) -> None:
    at, server = here()
    told = at.run("plan")
    lines = dict(line.split("  ", 1) for line in told.splitlines())
    plan = {name: value.strip() for name, value in lines.items()}
    assert plan["calls"] == "44 content, 8 question, 8 terms"
    low, high = plan["price"].removeprefix("US$ ").split(" to ")
    assert 0 < float(low) < float(high)
    assert plan["per million tokens"] == "2.0 in, 8.0 out"
    assert plan["price from"].startswith("tokenmath.io")
    assert plan["price from"].endswith("(2026-06-21)")
    assert server.stats().get("requests", 0) == 0
    at.run("fill")
    rows = at.rows()
    for name, counted in (("input", "input_tokens"), ("output", "output_tokens")):
        least, most = plan[f"{name} tokens"].replace(",", "").split(" to ")
        assert int(least) <= sum(row[counted] for row in rows) <= int(most)
    assert "calls               none" in at.run("plan")


def test_a_limit_is_a_first_look_that_the_next_fill_goes_on_from(here: Here) -> None:
    at, server = here()
    told = at.run("fill", "translator.limit=5", code=1)
    assert "5 answers, 5 translations stored" in told
    assert len(at.rows()) == server.stats()["requests"] == 5
    at.run("fill")
    assert len(at.rows()) == server.stats()["requests"] == ASKED
    assert "translator.limit is 0" in at.run("fill", "translator.limit=0", code=1)


def test_batches_cost_half(here: Here) -> None:
    at, _ = here()
    assert "1.0 in, 4.0 out" in at.run("plan", "translator.backend=batch")


@pytest.mark.parametrize("command", ["plan", "fill"])
def test_a_model_without_a_price_is_refused_unless_one_is_given(command: str, here: Here) -> None:
    at, server = here()
    at = at.also("translator.model=nobody")
    told = at.run(command, code=1)
    assert "no price is known for the model 'nobody'" in told
    assert server.stats().get("requests", 0) == 0
    told = at.run(command, "translator.price={input: 1, output: 2}")
    assert "1.0 in, 2.0 out" in told
    assert "translator.price (no date)" in told


def test_a_budget_is_not_passed_and_the_next_one_goes_on(here: Here) -> None:
    at, server = here(latency=0.01)
    told = at.run("fill", "translator.budget=0.05", code=1)
    rows = at.rows()
    spent = sum(2 * row["input_tokens"] + 8 * row["output_tokens"] for row in rows) / 1e6
    assert 0.005 < spent <= 0.05
    assert server.stats()["requests"] == len(rows)
    assert "the budget of 0.05 USD is used up" in told
    missing = int(told.split("bears: ")[1].split()[0])
    assert missing == ASKED - len(rows)
    assert "nothing is missing" in at.run("fill", "translator.budget=1")
    wanted = asked(server.prompts())
    assert len(wanted) == len(set(wanted)) == ASKED


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("translator.budget=-1", "translator.budget is -1.0; expected US dollars, 0 or more"),
        ("translator.budget=nan", "translator.budget is nan; expected US dollars, 0 or more"),
        ("translator.asks=0", "translator.asks is 0; expected 1 or more"),
    ],
)
def test_a_bound_that_is_none_is_refused(override: str, message: str, here: Here) -> None:
    at, server = here()
    assert message in at.run("fill", override, code=1)
    assert server.stats().get("requests", 0) == 0


def test_a_budget_holds_however_often_the_gates_refuse(here: Here) -> None:
    at, server = here(chances={"wrong_language": 0.5})
    at.run("fill", "translator.budget=0.04", "translator.asks=50", code=1)
    answers = [row for kind in ("translation", "refused") for row in at.rows(kind)]
    assert len(answers) == server.stats()["requests"]
    cost = sum(2 * row["input_tokens"] + 8 * row["output_tokens"] for row in answers) / 1e6
    assert cost <= 0.04


# ------------------------------------------------------------------------------- terminals


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("said", "code"), [("n\n", 1), ("\n", 1), ("y\n", 0)])
def test_at_a_terminal_nothing_is_spent_without_a_yes(
    said: str, code: int, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, server = here()
    monkeypatch.setattr(sys, "stdin", Terminal(said))
    told = at.run("fill", code=code)
    assert "Ask the model now? [y/N]" in told
    assert server.stats().get("requests", 0) == (0 if code else ASKED)


# ------------------------------------------------------------------------------- glossaries


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
    told = [p["messages"][-1]["content"] for p in server.prompts()[before:]]
    assert any(f"- {term.source} → ԶԶԶԶ" in prompt for prompt in told)
    corrected.run("publish")
    corrected.stage("translate", translate.main)
    texts = corrected.texts().values()
    holding = [after for source, after in texts if f" {term.source} " in source]
    assert holding
    assert all("ԶԶԶԶ" in after for after in holding)
    assert not any(term.rendering in after for after in holding)


def test_a_glossary_that_is_not_there_is_named(here: Here) -> None:
    at, _ = here()
    told = at.run("plan", "translator.glossary=none.csv", code=1)
    assert "none.csv: no such file" in told
    with pytest.raises(FormatError, match="no such file"):
        read_glossary(at.root / "none.csv")


# ------------------------------------------------------------------------------------ keys


def _assert_secret(at: Desk, *told: str) -> None:
    """Neither what was printed nor any file below the desk shows the key, nor much of it."""
    for text in told:
        assert "sk-test" not in text
    for path in at.root.rglob("*"):
        if path.is_file() and path.name != ".env":
            assert b"sk-test" not in path.read_bytes(), path


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["online", "batch"])
def test_a_key_that_a_server_repeats_is_shown_nowhere(backend: str, here: Here) -> None:
    at, server = here(status=400)
    words = ("translator.api_key_env=OPENAI_API_KEY", f"translator.backend={backend}")
    if backend == "batch":
        server.change(key="another", status=0)
    process = at.start("fill", *words, OPENAI_API_KEY=KEY)
    told, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "[key]" in errors
    assert (at.root / ".bears").is_dir()
    _assert_secret(at, told, errors)


def test_a_key_at_the_edge_of_a_message_is_not_shown_in_part(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, _ = here("leaky")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    told = at.run("fill", "translator.api_key_env=OPENAI_API_KEY", code=1)
    assert "[key]" in told
    file = at.root / "review.csv"
    told += at.run("review", "--export", str(file), "translator.api_key_env=OPENAI_API_KEY")
    assert "status 400" in file.read_text(encoding="utf-8")
    _assert_secret(at, told)


def test_without_a_key_nothing_is_asked(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    at, server = here()
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    told = at.run("fill", "translator.api_key_env=OPENAI_API_KEY", code=1)
    assert "the environment variable OPENAI_API_KEY holds no key" in told
    assert server.stats().get("requests", 0) == 0


# ------------------------------------------------------------------------------- fill: auto


def test_the_stage_fills_by_itself_where_it_is_told_to_and_the_key_is_there(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, server = here(key=KEY)
    keyed = at.also("translator.api_key_env=OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    told = keyed.stage("translate", translate.main, "translator.fill=auto", code=1)
    assert "the memory lacks" in told
    (keyed.root / ".env").write_text(f"OPENAI_API_KEY={KEY}\n", encoding="utf-8")
    assert "the memory lacks" in keyed.stage("translate", translate.main, code=1)
    assert server.stats().get("requests", 0) == 0
    keyed.stage("translate", translate.main, "translator.fill=auto")
    assert server.stats()["requests"] == ASKED
    assert keyed.memory.count(b"\n") == ASKED
    keyed.stage("translate", translate.main)
    written = keyed.root / "data/mini/translated"
    assert {path.name for path in written.iterdir()} == {
        "queries.json",
        "corpus.json",
        "sidecar.json",
        "manifest.json",
    }
    _assert_secret(keyed, json.dumps(sorted(map(str, Path(keyed.root).rglob("*")))))


def test_what_the_stage_could_not_fill_is_missing(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, _ = here("unfinished")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    keyed = at.also("translator.api_key_env=OPENAI_API_KEY", "translator.fill=auto")
    assert "the memory lacks" in keyed.stage("translate", translate.main, code=1)
    assert not (keyed.root / "data/mini/translated").exists()


# ------------------------------------------------------- what was decided or sampled elsewhere


def ledger(at: Desk, **parts: list[dict[str, str]]) -> None:
    path = at.root / "conf/ledger/mini.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(parts), encoding="utf-8")


def test_a_sample_that_does_not_follow_the_ledger_is_not_filled(here: Here) -> None:
    """It said that nothing is missing."""
    at, server = here()
    first = read_questions(at.root / SAMPLED / "queries_raw.json")[0]
    entry = {"question_id": first.question_id, "reason": "it is wrong"}
    ledger(at, replacements=[entry])
    late = f"the ledger was changed (question {first.question_id}); run `dvc repro sample`"
    for command in ("plan", "fill", "publish"):
        assert late in at.run(command, code=1)
    edit = {"record_id": first.question_id, "field": "question", "reason": "a typo"}
    ledger(at, edits=[{**edit, "old": first.question, "new": "Who?"}])
    assert late in at.run("fill", code=1)
    assert server.stats().get("requests", 0) == 0


def test_a_sample_that_follows_what_was_undone_is_not_filled(here: Here) -> None:
    """A replaced question that was taken back was translated, and the one that is asked was not."""
    at, server = here()
    first = read_questions(at.root / SAMPLED / "queries_raw.json")[0].question_id
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


def test_a_set_of_another_benchmark_is_not_imported(here: Here) -> None:
    """459 entries came in without a word, and 442 were missing after it."""
    at, _ = here()
    at = Desk(at.root, SMALL)
    folder = at.root / "published"
    folder.mkdir()
    for name in ("queries", "corpus"):
        rows = json.loads((at.root / SAMPLED / f"{name}_raw.json").read_bytes())
        for suffix in ("_raw", ""):
            (folder / f"{name}{suffix}.json").write_text(json.dumps(rows), encoding="utf-8")
    words = ("mini", str(folder), "translator.name=published")
    told = at.run("import", *words)
    assert re.search(r"(\d+) of the \1 texts that mini asks for are among them", told)
    text = (folder / "corpus_raw.json").read_text(encoding="utf-8")
    for suffix in ("_raw", ""):
        rows = json.loads(text)
        for row in rows:
            row["content"] = f"Another pool. {row['content']}"
        (folder / f"corpus{suffix}.json").write_text(json.dumps(rows), encoding="utf-8")
    assert re.search(r"\d+ texts are still missing: \d+ of the", at.run("import", *words))
    rows = json.loads((folder / "queries.json").read_bytes())
    for row in rows:
        row["question"] = f"Another set: {row['question']}"
        row["gold_answer"] = f"Another answer: {row['gold_answer']}"
    for suffix in ("_raw", ""):
        (folder / f"queries{suffix}.json").write_text(json.dumps(rows), encoding="utf-8")
    before = at.memory
    assert "nothing was imported" in at.run("import", *words, code=1)
    assert at.memory == before


def test_what_it_cost_is_told_without_a_terminal(here: Here) -> None:
    at, _ = here()
    told = at.run("fill")
    rows = at.rows()
    cost = sum(2 * row["input_tokens"] + 8 * row["output_tokens"] for row in rows) / 1e6
    assert f"US$ {cost:.4f} spent" in told
