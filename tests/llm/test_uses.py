"""The contract of every use: planned, filled, killed, resumed, published, replayed, kept whole."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from bears.files.journal import Journal
from bears.files.manifest import seal
from bears.files.records import write_json, write_lines, write_records
from bears.types import Question, Turn
from stages import generate, judge, rewrite, sample, translate
from tests import answering, questioning
from tests.desk import Desk, desk
from tests.llm.test_kill import forked, wait_until
from tests.provider_server import ProviderServer

CONCURRENCY = 3
TEA = (Turn("user", "Who grew tea first?"), Turn("assistant", "People in Yunnan did."))


@dataclass(frozen=True)
class Case:
    """One use of a model.

    Args:
        name, group: of the use, and of its configuration.
        stage, output: replays the replies, and what it writes below data/.
        prepare: makes a desk where only these replies are missing; takes a folder, a factory of
            temporary folders, and the address of a good model.
        published: the files below data/memory; those of the use are first.
        spoilt: kept replies that the stage refuses; empty if any text is one.
    """

    name: str
    group: str
    stage: Callable[..., None]
    output: str
    prepare: Callable[[Path, pytest.TempPathFactory, str], Desk]
    published: tuple[str, ...]
    spoilt: tuple[str, ...] = ()

    @property
    def replies(self) -> list[str]:
        return [f"data/memory/{name}" for name in self.published]


def _rewriting(to: Path, _: pytest.TempPathFactory, url: str) -> Desk:
    at = answering.made(to, url)
    turns = {0: TEA, 3: TEA[:1]}
    texts = ["And when was that?", "When was tea grown first?", "Hello there!", "And who else?"]
    questions = [
        Question(f"q{n}", text, "", (), "s", "ad-hoc", turns=turns.get(n, ()))
        for n, text in enumerate(texts)
    ]
    folder = at.root / "data/mini/translated"
    write_records(folder / "queries.json", questions)
    seal([folder], {})
    return Desk(at.root, ("rewriter=gpt-4.1-mini",))


def _answered(to: Path, _: pytest.TempPathFactory, url: str) -> Desk:
    at = questioning.published(answering.made(to, url))
    at.stage("generate", generate.main)
    state = {"benchmark": {"name": "mini", "state": ""}, "retriever": "bm25", "all": {"n": 12}}
    state |= {"by_type": {}, "by_source": {}}
    write_json(at.root / "metrics/retrieval.json", state)
    write_lines(at.root / "data/mini/sampled/lineage.jsonl", [])
    seal([at.root / "data/mini/sampled"], {})
    write_json(at.root / "data/mini/translated/sidecar.json", {"aliases": {}})
    seal([at.root / "data/mini/translated"], {})
    return Desk(at.root, ("generator=gpt-4.1", "judge=gpt-4.1-mini"))


CASES = [
    Case(
        *("translation", "translator", translate.main, "mini/translated/queries.json"),
        lambda to, factory, _: desk(to, factory, ""),
        ("mini.jsonl",),
    ),
    Case(
        *("rewrite", "rewriter", rewrite.main, "mini/rewritten/gpt-4.1-mini.jsonl", _rewriting),
        ("mini.rewrites.jsonl",),
        ("tea", '{"search": true}', '{"search": false, "standalone_query": "x"}'),
    ),
    Case(
        *("answer", "generator", generate.main, "mini/answers/bm25.gpt-4.1.jsonl"),
        lambda to, _, url: answering.made(to, url),
        ("mini.answers.jsonl",),
    ),
    Case(
        *("verdict", "judge", judge.main, "mini/answers/bm25.gpt-4.1.questions.csv", _answered),
        ("mini.verdicts.jsonl",),
        ("pass", '{"verdict": "maybe"}'),
    ),
    Case(
        *("question", "questioner", sample.main, "made/sampled/queries_raw.json"),
        lambda to, _, url: questioning.made(to, url, questioning.stones(5)),
        ("made/made.questions.jsonl", "made/made.checks.jsonl"),
        ("Who?", '{"question": "Who?"}'),
    ),
]


_prepared: dict[str, Desk] = {}
"""The desk of each case, made once per session."""


@dataclass
class Trial:
    """A desk where the replies of one use are missing, and the server that its model is behind."""

    case: Case
    desk: Desk
    server: ProviderServer

    def run(self, command: str, *words: str, code: int = 0) -> str:
        return self.desk.run(command, *words, code=code)

    def replay(self, *words: str, code: int = 0) -> str:
        stage = self.case.stage
        return self.desk.stage(stage.__module__.split(".")[1], stage, *words, code=code)

    def asked(self) -> int:
        return int(self.server.stats().get("requests", 0))

    def kept(self) -> list[dict[str, Any]]:
        """Return the replies in the journal, those of a use that follows from this one included."""
        rows = Journal(self.desk.journal).rows() if self.desk.journal.exists() else ()
        return [row for row in rows if "model" in row and not row["reasons"]]

    def files(self, *names: str) -> list[bytes]:
        return [(self.desk.root / name).read_bytes() for name in names]

    def written(self) -> list[bytes]:
        """Return the published files, and what the stage wrote."""
        return self.files(*self.case.replies, f"data/{self.case.output}")

    def publish(self) -> list[bytes]:
        self.run("publish")
        return self.files(*self.case.replies)

    def fill_auto(self) -> tuple[str, ...]:
        return tuple(f"{group}.fill=auto" for group in _groups(self.case))


def _groups(case: Case) -> tuple[str, ...]:
    return (case.group, *(("questioner.reader",) if case.group == "questioner" else ()))


Begin = Callable[..., Trial]


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def begin(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    provider: Callable[..., ProviderServer],
) -> Begin:
    """Return a function that starts a trial of one use, with a server of some behaviour."""
    case: Case = request.param

    def started(behaviour: str = "good", **faults: Any) -> Trial:
        server = provider(behaviour, **faults)
        if case.name not in _prepared:
            folder, model = tmp_path_factory.mktemp(case.name), provider()
            _prepared[case.name] = case.prepare(folder, tmp_path_factory, model.url)
        made, root = _prepared[case.name], Path(mkdtemp(dir=tmp_path)) / "desk"
        shutil.copytree(made.root, root, ignore=shutil.ignore_patterns("journal.jsonl*"))
        settings = (f"base_url={server.url}", "api_key_env=''", f"concurrency={CONCURRENCY}")
        asking = [f"{group}.{setting}" for group in _groups(case) for setting in settings]
        return Trial(case, Desk(root, (*made.overrides, *asking)), server)

    return started


def test_it_is_planned_filled_published_and_replayed_without_a_model(begin: Begin) -> None:
    at = begin()
    missing = at.replay(code=1)
    assert "missing from the kept replies: " in missing
    assert "bears replies fill" in missing
    assert not (at.desk.root / "data" / at.case.output).exists()
    assert "stored; US$" in at.run("fill")
    asked = at.asked()
    assert asked == len(at.kept()) > 0
    assert "calls               none" in at.run("plan")
    assert "nothing is missing" in at.run("fill")
    published = at.publish()
    assert " 0 of them new" in at.run("publish")
    assert at.files(*at.case.replies) == published
    assert at.asked() == asked
    # Another machine has the published files only, and no server.
    other = begin(status=500)
    for name in at.case.replies:
        shutil.copy(at.desk.root / name, other.desk.root / name)
    for each in (at, other):
        each.replay()
    assert other.written() == at.written()
    assert other.asked() == 0


@pytest.mark.slow
def test_the_stage_fills_by_itself_and_asks_for_nothing_that_the_journal_has(begin: Begin) -> None:
    at, other = begin(), begin()
    at.replay(*at.fill_auto())
    asked = at.asked()
    assert asked == len(at.kept()) > 0
    at.replay()
    # Filled and not published, as after a crash.
    other.run("fill")
    other.replay(*other.fill_auto())
    assert at.asked() == other.asked() == asked
    assert at.written() == other.written()


@pytest.mark.slow
def test_a_reply_that_cannot_be_used_is_requested_again_and_never_kept(begin: Begin) -> None:
    at, calm = begin("careless"), begin()
    for each in (at, calm):
        each.run("fill")
    # One answer may be long: a list without an end is a list.
    assert at.asked() in (2 * calm.asked(), 2 * calm.asked() - 1)
    assert at.publish() == calm.publish()


@pytest.mark.slow
@pytest.mark.parametrize("count", [6])
def test_kills_lose_nothing_and_nothing_is_paid_twice(begin: Begin, count: int) -> None:
    at, calm = begin(latency=0.02), begin()
    calm.run("fill")
    dice = random.Random(count)
    at.run("plan")
    done = 0
    while done < count:
        before, kept = at.asked(), at.kept()
        process = forked(lambda: at.run("fill"))
        enough = before + dice.randint(1, calm.asked())
        wait_until(lambda enough=enough: at.asked() >= enough, process)  # type: ignore[misc]
        process.kill()
        process.join()
        # Only requests in flight can be lost.
        assert kept == at.kept()[: len(kept)]
        assert at.asked() - before <= len(at.kept()) - len(kept) + CONCURRENCY
        done += process.exitcode != 0
        if process.exitcode == 0:
            at.desk.journal.unlink()
    before, kept = at.asked(), at.kept()
    at.run("fill")
    assert at.asked() - before == calm.asked() - len(kept)
    keys = [row["key"] for row in at.kept()]
    assert len(keys) == len(set(keys)) == calm.asked()
    assert at.publish() == calm.publish()


SPOILT = [pytest.param(case, id=case.name) for case in CASES if case.spoilt]


@pytest.mark.parametrize("begin", SPOILT, indirect=True)
def test_a_spoilt_reply_is_named(begin: Begin) -> None:
    at = begin()
    at.run("fill")
    at.publish()
    path = at.desk.root / at.case.replies[0]
    first, *others = path.read_text().splitlines()
    for spoilt in at.case.spoilt:
        row = json.loads(first) | {at.case.name: spoilt}
        path.write_text("\n".join([json.dumps(row), *others, ""]))
        message = at.replay(code=1)
        assert f"the {at.case.name}" in message
        assert "Traceback" not in message
