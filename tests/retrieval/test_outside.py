"""A system that runs elsewhere, behind an address that fails, hangs and says too much."""

from __future__ import annotations

import importlib
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from bears.answers.outside import OutsideGenerator
from bears.config.typed import build
from bears.errors import ConfigurationError, FormatError, StoreError
from bears.retrieval.chunking import chunks
from bears.retrieval.chunking.passages import Passages
from bears.retrieval.levels import OpenIndex
from bears.retrieval.outside.matching import reply_of
from bears.retrieval.outside.system import OutsideRetriever, OutsideSearcher, OutsideSystem
from bears.retrieval.retriever import Query, RetrieveSettings, Stopwatch
from bears.trace import ModelCall
from bears.types import Chunk, Document, Question
from tests.slow_server import dripping

TEXTS = {
    f"page{n}.md": f"# Page {n}\n\nThe lamp of page {n} is red.\n\nIts end." for n in range(30)
}
ASKED = [f"What colour has the lamp of page {n}?" for n in range(30)]


class Elsewhere(BaseHTTPRequestHandler):
    """Answers with one passage; what it does with some questions is in ``spoilt``."""

    spoilt: ClassVar[dict[str, str]] = {}
    answers: ClassVar[bool] = False
    counts: ClassVar[Counter[str]] = Counter()
    headers_seen: ClassVar[set[str]] = set()
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        question = asked["query"]
        self.counts[question] += 1
        self.headers_seen.add(self.headers.get("Authorization", ""))
        kind = self.spoilt.get(question, "")
        if kind == "hang once" and self.counts[question] == 1:
            time.sleep(2.5)
        if kind == "fail":
            self.send_error(500)
            return
        number = question.rpartition(" ")[2].strip("?")
        texts = [{"source": f"/srv/page{number}.md", "text": f"The lamp of page {number} is red."}]
        texts.append({"id": "x", "source": "", "text": "What nobody wrote."})
        reply: Any = texts
        if self.answers:
            reply = {"answer": "Red [1, 2], as everybody knows. [CITE:5]", "passages": texts}
        body = b"not json" if kind == "noise" else json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(500_000_000 if kind == "large" else len(body)))
        self.end_headers()
        with suppress(OSError):
            if kind == "large":
                for _ in range(500):
                    self.wfile.write(b" " * 1_000_000)
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.chdir(tmp_path)
    Elsewhere.spoilt, Elsewhere.counts, Elsewhere.headers_seen = {}, Counter(), set()
    Elsewhere.answers = False
    server = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/search"
    server.shutdown()
    server.server_close()


def opened(folder: Path, **settings: Any) -> OutsideSearcher:
    retriever = OutsideRetriever(**{"timeout_s": 1, **settings})
    pages = [Document(name, text, "s", name, False) for name, text in TEXTS.items()]
    folder.mkdir(exist_ok=True)
    # Documents are cut for other retrievers, and put together again.
    retriever.index(chunks(pages, Passages(min_characters=5, max_characters=20)), folder, folder)
    return retriever.open(folder)


def found(searcher: OutsideSearcher) -> list[list[Chunk]]:
    rankings = [searcher.search([Query(asked)], 10, Stopwatch())[0] for asked in ASKED]
    return [[searcher.places[hit.doc_id] for hit in ranking] for ranking in rankings]


@pytest.mark.slow
def test_passages_are_matched_and_what_was_answered_is_not_asked_twice(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_HEADERS", "Authorization: Bearer abc\nX-Team: one")
    for number in range(0, 30, 10):
        Elsewhere.spoilt[ASKED[number]] = "fail"
    Elsewhere.spoilt |= {ASKED[4]: "large", ASKED[5]: "hang once", ASKED[6]: "noise"}
    settings = {"url": address, "headers_env": "SEARCH_HEADERS", "attempts": 2}
    searcher = opened(tmp_path / "index", **settings)
    rankings = found(searcher)
    failed = {0, 10, 20, 4, 6}
    assert [n for n, names in enumerate(rankings) if not names] == sorted(failed)
    for number in set(range(30)) - failed:
        first, second = rankings[number]
        assert first.of(TEXTS[first.doc_id]) == f"The lamp of page {number} is red."
        assert second == Chunk("unmatched-1")
    assert (Elsewhere.counts[ASKED[5]], Elsewhere.counts[ASKED[4]]) == (2, 1)
    assert Elsewhere.counts[ASKED[0]] == 2
    assert Elsewhere.headers_seen == {"Bearer abc"}
    with pytest.raises(StoreError, match=r"fails on 5 of 30 questions, such as 'What colour.*500"):
        searcher.finish()
    # The next run asks only for what is missing.
    before, Elsewhere.spoilt = Counter(Elsewhere.counts), {}
    again = opened(tmp_path / "index", **settings, keep=True)
    assert [names for names in found(again) if len(names) == 2] == found(again)
    asked = Elsewhere.counts - before
    assert {ASKED.index(each) for each in asked} == failed
    said = again.finish()
    assert (said["failed"], said["unmatched_passages"]) == ({}, 30)
    assert said["asked"][0] <= said["asked"][1]
    # Kept, so that it can be repeated offline.
    offline = opened(tmp_path / "index", url=address, keep=True)
    stopwatch = Stopwatch()
    Elsewhere.spoilt = dict.fromkeys(ASKED, "fail")
    assert found(offline) == found(again)
    offline.search([Query(ASKED[5])], 10, stopwatch)
    assert stopwatch.seconds["ask"] > 1  # The time of the request that hung.
    offline.finish()
    # A new run asks anew, unless the replies are kept.
    Elsewhere.spoilt, before = {}, Counter(Elsewhere.counts)
    found(opened(tmp_path / "index", url=address, keep=True))
    assert Elsewhere.counts == before
    found(opened(tmp_path / "index", url=address))
    assert set((Elsewhere.counts - before).values()) == {1}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("Bearer sekret", "SEARCH_HEADERS has 1 lines, and line 1 is not a header"),
        ("X-Team: one\n\nsekret", "SEARCH_HEADERS has 2 lines, and line 2 is not a header"),
        ("Author ization: Bearer sekret", "line 1 is not a header"),
        ("Authorization: Bearer sekret\u200b", "line 1 is not a header"),
        (" ", "SEARCH_HEADERS is not set"),
        (None, "SEARCH_HEADERS is not set"),
    ],
)
def test_headers_that_are_none_are_refused_and_never_shown(
    value: str | None,
    told: str,
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("SEARCH_HEADERS", raising=False)
    if value is not None:
        monkeypatch.setenv("SEARCH_HEADERS", value)
    with pytest.raises(ConfigurationError, match=told) as caught:
        opened(tmp_path / "index", url=address, headers_env="SEARCH_HEADERS")
    assert "sekret" not in str(caught.value) + "".join(capsys.readouterr())
    assert not Elsewhere.counts


def test_an_address_with_a_key_comes_from_the_environment_and_is_not_shown(
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SEARCH_URL", f"{address}?code=sekret")
    Elsewhere.spoilt = {ASKED[3]: "fail"}
    settings: dict[str, Any] = {"url_env": "SEARCH_URL", "attempts": 1}
    searcher = opened(tmp_path / "index", **settings, keep=True)
    assert len([names for names in found(searcher) if names]) == 29
    with pytest.raises(StoreError, match="status 500") as caught:
        searcher.finish()
    assert "sekret" not in str(caught.value) + "".join(capsys.readouterr())
    for path in tmp_path.rglob("*"):
        assert "sekret" not in path.name
        assert not path.is_file() or b"sekret" not in path.read_bytes()
    before = Counter(Elsewhere.counts)
    found(opened(tmp_path / "index", **settings, keep=True))
    assert set(Elsewhere.counts - before) == {ASKED[3]}
    # What is after the question mark may be a key or choose an index, so it is asked again.
    monkeypatch.setenv("SEARCH_URL", f"{address}?code=renewed")
    found(opened(tmp_path / "index", **settings, keep=True))
    assert set(Elsewhere.counts - before) == set(ASKED)
    monkeypatch.delenv("SEARCH_URL")
    with pytest.raises(ConfigurationError, match="SEARCH_URL is not set"):
        opened(tmp_path / "index", **settings)


def test_headers_that_come_slowly_count_as_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with dripping() as url:
        searcher = opened(tmp_path / "index", url=url, attempts=1, timeout_s=0.5)
        begin = time.monotonic()
        assert searcher.search([Query("Which?")], 10, Stopwatch()) == [()]
        assert time.monotonic() - begin < 5
    with pytest.raises(StoreError, match=r"no whole reply in 0\.5 s"):
        searcher.finish()


def test_one_request_gives_passages_and_answer(address: str, tmp_path: Path) -> None:
    Elsewhere.answers = True
    Elsewhere.spoilt = {ASKED[3]: "fail"}
    settings: dict[str, Any] = {"url": address, "attempts": 1, "failing": 0.1}
    searcher = opened(tmp_path / "index", **settings)
    index = OpenIndex(searcher, 1, {}, RetrieveSettings(5, None, False))
    rankings = [*index.levels({text: Query(text) for text in ASKED}, 5, Stopwatch()).values()]
    # Documents that are whole here are ranked by what the system found in them.
    assert [hit.doc_id for hit in rankings[7].documents] == ["page7.md", "unmatched-1"]
    first = rankings[7].chunks[0].chunk
    assert first.doc_id == "page7.md"
    assert first.end
    searcher.finish()
    questions = [Question(asked, asked, "", (), "s", "ad-hoc") for asked in ASKED]
    rows = list(OutsideGenerator(**settings).answered(questions, TEXTS, "Unanswerable"))
    # The question that failed is asked again, and no other one.
    assert {asked: n for asked, n in Elsewhere.counts.items() if n > 1} == {ASKED[3]: 2}
    assert (rows[3].answer, rows[3].shown, rows[3].searches) == ("", None, None)
    assert "500" in rows[3].error
    assert rows[7].answer == "Red, as everybody knows."
    assert rows[7].evidence == rows[7].shown == (first,)
    # The second passage that it cites is from no document, and there is no fifth one.
    assert rows[7].retrieved == frozenset({"page7.md", "unmatched-1"})
    assert rows[7].cited_not_given == 2
    # The next run of `generate` alone asks everything again.
    list(OutsideGenerator(**settings).answered(questions, TEXTS, "Unanswerable"))
    assert Elsewhere.counts[ASKED[7]] == 2


def test_the_steps_of_an_agent_are_kept_and_serve_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent.py").write_text(
        "def answer(question, k):\n"
        "    found = [{'source': 'page1.md', 'text': 'The lamp of page 1 is red.'}] * 3\n"
        "    steps = [{'query': 'a', 'passages': found}, {'query': 'b', 'passages': []}]\n"
        "    steps.append({'model': 'm', 'input_tokens': 5, 'output_tokens': 1})\n"
        "    return {'answer': 'Red [1]', 'steps': steps, 'confidence': 0.5}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    questions = [Question(asked, asked, "", (), "s", "ad-hoc") for asked in ASKED[:2]]
    generator = OutsideGenerator(call="agent:answer", keep=True)
    first, again = (list(generator.answered(questions, TEXTS, "Unanswerable")) for _ in range(2))
    assert first == again
    assert [each.query for each in first[0].searches or ()] == ["a", "b"]
    assert [len(each.passages) for each in first[0].searches or ()] == [1, 0]
    assert (first[0].calls, first[0].confidence) == ((ModelCall("m", 5, 1),), 0.5)
    assert first[0].evidence == (first[0].ranking[0].chunk,)


@pytest.mark.parametrize("keep", [False, True])
def test_an_agent_is_asked_again_for_every_repeat_and_each_reply_is_kept(
    keep: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dice.py").write_text(
        "ASKED = []\n\n\n"
        "def answer(question, k):\n"
        "    ASKED.append(question)\n"
        "    if len(ASKED) == 3:\n"
        "        raise OSError('no line')\n"
        "    return {'answer': str(len(ASKED)), 'passages': []}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "dice", raising=False)
    questions = [Question(asked, asked, "", (), "s", "ad-hoc") for asked in ASKED[:2]]

    def said(repeats: int) -> list[tuple[int, str | None]]:
        generator = OutsideGenerator(call="dice:answer", keep=keep, repeats=repeats, failing=0.5)
        traces = generator.answered(questions, TEXTS, "Unanswerable")
        return [(ASKED.index(each.question_id), each.answer) for each in traces]

    # The retriever asked the first question already, which is its first repeat.
    retriever = OutsideRetriever(call="dice:answer", keep=keep)
    OutsideSystem(retriever).reply(ASKED[0])
    assert said(2) == [(0, "1"), (1, "2"), (0, ""), (1, "4")]
    again = said(3)
    if keep:
        # What failed is asked again, and the third repeat for the first time.
        assert again == [(0, "1"), (1, "2"), (0, "5"), (1, "4"), (0, "6"), (1, "7")]
    else:
        assert [answer for _, answer in again] == ["5", "6", "7", "8", "9", "10"]


def test_a_system_without_answers_is_no_generator(address: str) -> None:
    question = Question("q", ASKED[0], "", (), "s", "ad-hoc")
    with pytest.raises(FormatError, match="returned no answer; expected"):
        list(OutsideGenerator(url=address).answered([question], TEXTS, "Unanswerable"))
    with pytest.raises(ConfigurationError, match=r"generator.call is '' and generator.url is ''"):
        OutsideGenerator()


def test_some_questions_may_fail_if_that_is_said(address: str, tmp_path: Path) -> None:
    Elsewhere.spoilt = {ASKED[0]: "noise"}
    searcher = opened(tmp_path / "index", url=address, failing=0.1)
    assert found(searcher)[0] == []
    assert list(searcher.finish()["failed"]) == [ASKED[0]]


@pytest.mark.parametrize("keep", [False, True])
def test_replies_belong_to_the_code_that_gave_them(
    keep: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/__init__.py").touch()
    search = "from .rank import rank\n\n\ndef search(question, k):\n    return [rank(question)]\n"
    (tmp_path / "mine/search.py").write_text(search)

    def ranked(body: str) -> set[str]:
        (tmp_path / "mine/rank.py").write_text(f"def rank(question):\n    {body}\n")
        for name in [name for name in sys.modules if name.partition(".")[0] == "mine"]:
            monkeypatch.delitem(sys.modules, name)
        importlib.invalidate_caches()
        searcher = opened(tmp_path / "index", call="mine.search:search", k=1, keep=keep)
        with suppress(StoreError):
            rankings = found(searcher)
            searcher.finish()
        return {chunk.doc_id for ranking in rankings for chunk in ranking}

    # It fails on one question, is corrected, and runs again.
    first = ranked("return 'The lamp of page 7 is red.' if '3?' not in question else 1 / 0")
    assert first == {"page7.md"}
    assert ranked("return 'The lamp of page 8 is red.'") == {"page8.md"}


READERS = {
    "a docstring": '"""7"""\n\n\ndef number():\n    return __doc__',
    "a function's docstring": 'def number():\n    """7"""\n    return number.__doc__',
    "a file": "from pathlib import Path\n\n\ndef number():\n"
    "    return Path('prompt.txt').read_text()",
    "JSON": "import json\n\n\ndef number():\n"
    "    with open('prompt.txt') as f:\n        return str(json.load(f))",
    "a module by name": "from importlib import import_module\nname = 'number7'\n\n\n"
    "def number():\n    return import_module(name).N",
    "exec": "from pathlib import Path\n\n\ndef number():\n    known = {}\n"
    "    exec(Path('number7.py').read_text(), known)\n    return known['N']",
}


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("kind", READERS)
def test_what_a_function_reads_is_a_part_of_it(
    kind: str, keep: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    asks = (
        "\n\n\ndef search(question, k):\n    with open('asked', 'a') as f:\n        f.write('.')\n"
    )
    asks += "    return [f'The lamp of page {number()} is red.']\n"

    def ranked(number: int) -> tuple[set[str], int]:
        (tmp_path / "asked").write_text("")
        (tmp_path / "prompt.txt").write_text(f"{number}")
        (tmp_path / "number7.py").write_text(f"N = '{number}'\n")
        (tmp_path / "reader.py").write_text(READERS[kind].replace('"7', f'"{number}') + asks)
        for name in ("reader", "number7"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        searcher = opened(tmp_path / "index", call="reader:search", k=1, keep=keep)
        rankings = found(searcher)
        searcher.finish()
        documents = {chunk.doc_id for ranking in rankings for chunk in ranking}
        return documents, len((tmp_path / "asked").read_text())

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert ranked(7) == ({"page7.md"}, 30)
    if keep or "docstring" not in kind:
        # DVC runs it once more when what it reads is known, which asks nothing again.
        assert ranked(7) == ({"page7.md"}, 0)
    assert ranked(8) == ({"page8.md"}, 30)


@pytest.mark.parametrize(
    "code",
    [
        "from functools import partial\n\n\ndef of(page, question, k):\n    return [page]\n\n\n"
        "search = partial(of, 'The lamp of page 7 is red.')\n",
        "from textwrap import shorten\n\n\ndef plain(f):\n    return lambda *a: f(*a)\n\n\n"
        "@plain\ndef search(question, k):\n    return ['The lamp of page 7 is red.']\n",
        "from .inner import search\n",
    ],
)
def test_whatever_can_be_called_is_a_function_of_the_project(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("own_system", "own_system.inner"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "own_system").mkdir()
    (tmp_path / "own_system/__init__.py").write_text(code)
    inner = "def search(question, k):\n    return ['The lamp of page 7 is red.']\n"
    (tmp_path / "own_system/inner.py").write_text(inner)
    importlib.invalidate_caches()
    searcher = opened(tmp_path / "index", call="own_system:search", k=1)
    (ranking,) = searcher.search([Query("Which?")], 10, Stopwatch())
    assert [searcher.places[hit.doc_id].doc_id for hit in ranking] == ["page7.md"]


def test_a_function_of_the_project_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_search.py").write_text(
        "def search(question, k):\n    return ['The lamp of page 7 is red.', 'Its end.'][:k]\n"
    )
    searcher = opened(tmp_path / "index", call="my_search:search", k=2)
    (ranking,) = searcher.search([Query("Which?")], 10, Stopwatch())
    # Every page has the second one.
    chunks_found = [searcher.places[hit.doc_id] for hit in ranking]
    assert [chunk.doc_id for chunk in chunks_found] == ["page7.md", "unmatched-1"]
    with pytest.raises(ConfigurationError, match="cannot search in the groups"):
        searcher.search([Query("Which?", "group")], 10, Stopwatch())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "give one of them"),
        ({"call": "a:b", "url": "http://127.0.0.1:1/"}, "give one of them"),
        ({"call": "os:system"}, "a module of this project defines"),
    ],
)
def test_a_system_that_cannot_be_asked_is_refused(
    tmp_path: Path, settings: dict[str, str], said: str
) -> None:
    target = "bears.retrieval.outside.system.OutsideRetriever"
    (tmp_path / "documents.jsonl").touch()
    with pytest.raises(ConfigurationError, match=said):
        build({"_target_": target, **settings}, "retriever").open(tmp_path)


@pytest.mark.parametrize("steps", ["ab", 5, [5], [{"query": "a", "passages": []}, 5]])
def test_every_step_of_a_system_is_a_mapping(steps: Any) -> None:
    with pytest.raises(FormatError, match="expected a list of mappings"):
        reply_of({"steps": steps}, "a?")
