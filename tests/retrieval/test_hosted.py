"""Embeddings of a provider on loopback: the right vectors, each paid for once, within a budget."""

from __future__ import annotations

import json
import multiprocessing
import re
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bears.config import compose, read_selection
from bears.config.typed import build
from bears.errors import ConfigurationError, RetrieverUnavailable
from bears.llm.wire import token_range
from bears.retrieval.dense.shards import VectorCache
from bears.retrieval.models.hosted import Hosted
from bears.retrieval.vectors import Encoded
from bears.types import Question
from tests.provider_server import ROOT, ProviderServer, word_vector
from tests.retrieving import ask, documents, ids, opened

KEY = "sk-test-51b0c9e2"
TEXTS = [f"text {n} of {n * n}" for n in range(100)]
ROW = 32 + 32 * 4 + 3 * 4
"""Bytes of a kept vector: a sha256, 32 numbers, and three counts."""

Make = Callable[..., Hosted]


@pytest.fixture(scope="module")
def running() -> Iterator[ProviderServer]:
    with ProviderServer() as server:
        yield server


@pytest.fixture
def server(running: ProviderServer) -> ProviderServer:
    """As if it had just been started; it takes one key."""
    running.reset(key=KEY)
    return running


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout in which one works, with a key in the environment."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("DVC_ROOT", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    shutil.copytree(ROOT / "conf", tmp_path / "conf")
    shutil.copy(ROOT / "params.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def hosted(server: ProviderServer, desk: Path) -> Make:
    """Makes an encoder that may buy from the server."""
    assert Path.cwd() == desk

    def make(**settings: Any) -> Hosted:
        given = {"model": "text-embedding-3-small", "dimensions": 32, "fill": "auto"}
        quick = {"base_url": server.url, "backoff_s": 0.01, "timeout_s": 2.0, "batch_texts": 7}
        return Hosted(**{**given, **quick, **settings})

    return make


def expected(texts: list[str], dimensions: int = 32) -> np.ndarray[Any, Any]:
    vectors = np.array([word_vector(text, dimensions) for text in texts])
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def asked(server: ProviderServer) -> list[str]:
    """Every text that reached the server, in order of arrival."""
    return [text for request in server.prompts() for text in request["input"]]


def files(desk: Path) -> list[Path]:
    return list(desk.glob(".bears/embeddings/**/*.vectors"))


def kept(desk: Path) -> int:
    return sum(path.stat().st_size // ROW for path in files(desk))


# The vectors ---------------------------------------------------------------------------------


def test_each_text_gets_its_own_vector_of_length_one(hosted: Make, server: ProviderServer) -> None:
    """Fifteen requests at once, whose answers the server gives in a shuffled order."""
    vectors = hosted().documents(TEXTS)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected(TEXTS), atol=1e-6)
    assert sorted(len(request["input"]) for request in server.prompts()) == [2] + 14 * [7]
    first = server.prompts()[0]
    told = {"model": "text-embedding-3-small", "encoding_format": "base64", "dimensions": 32}
    assert {name: first[name] for name in first if name != "input"} == told


def test_a_text_of_nothing_is_not_sent_and_has_a_vector_of_zeros(
    hosted: Make, server: ProviderServer
) -> None:
    assert not hosted().documents(["", " "]).any()
    vectors = hosted().documents(["", "one", " \n"])
    assert asked(server) == ["one"]
    assert np.linalg.norm(vectors, axis=1).tolist() == pytest.approx([0, 1, 0])
    assert hosted().documents([]).shape == (0, 32)


def test_a_request_holds_no_more_texts_and_tokens_than_it_may(
    hosted: Make, server: ProviderServer
) -> None:
    hosted(batch_texts=3, batch_tokens=40).documents(["a" * 10, "b" * 30, "c", "d", "e", "f" * 50])
    sizes = sorted([len(text) for text in request["input"]] for request in server.prompts())
    assert sizes == [[1, 1, 1], [10, 30], [50]]


def test_a_text_that_is_too_long_is_cut_before_it_is_sent(
    hosted: Make, server: ProviderServer
) -> None:
    encoder = hosted(text_tokens=100)
    encoder.documents(["x" * 1000, "台灣" * 500])
    assert sorted(asked(server)) == ["x" * 200, "台灣" * 25]
    assert [token_range(text)[1] for text in asked(server)] == [100, 100]
    encoder.documents(["x" * 1000])
    assert len(asked(server)) == 2


# Faults --------------------------------------------------------------------------------------


def test_what_may_pass_is_asked_for_again(hosted: Make, server: ProviderServer) -> None:
    kinds = ("server_error", "cut", "not_finite", "zeros", "fewer", "twice", "invalid_json")
    server.change(chances=dict.fromkeys(kinds, 0.08))
    vectors = hosted(attempts=20, batch_texts=2).documents(TEXTS)
    np.testing.assert_allclose(vectors, expected(TEXTS), atol=1e-6)
    assert all(server.stats()[f"fault {kind}"] for kind in kinds)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("server_error", "no answer after 2 attempts, the last one: .*status 500"),
        ("not_finite", "a vector holds NaN or infinity"),
        ("zeros", "a vector is all zeros"),
        ("too_large", "a vector holds NaN or infinity"),
        ("nested", "a vector is a list of lists"),
        ("infinite_place", "the answer cannot be read: .*not valid JSON"),
        ("fewer", "7 texts were sent, 6 vectors for 6 of them came"),
        ("twice", "7 texts were sent, 8 vectors for 7 of them came"),
        ("bad_request", "status 400 invalid_request_error: Invalid value"),
        ("short", "answers vectors of 16 dimensions for text-embedding-3-small, and 32"),
    ],
)
def test_what_cannot_be_had_is_told_and_the_rest_is_kept(
    hosted: Make, server: ProviderServer, desk: Path, fault: str, told: str
) -> None:
    server.change(content={"text 50 ": fault})
    with pytest.raises(RetrieverUnavailable, match=told) as caught:
        hosted(attempts=2, concurrency=1).documents(TEXTS)
    # Other dimensions stop everything; what else befalls a request leaves the others alone.
    have = 49 if fault == "short" else 93
    assert kept(desk) == have
    assert f"{100 - have} of 100 documents have no vector yet" in str(caught.value)
    server.change(content={})
    before = len(asked(server))
    hosted().documents(TEXTS)
    assert len(asked(server)) - before == 100 - have


def test_an_account_without_credit_stops_the_purchase_in_the_servers_words(
    hosted: Make, server: ProviderServer, desk: Path
) -> None:
    server.change(last=(3, 200, {"error": {"code": 402, "message": "Insufficient credits"}}))
    with pytest.raises(RetrieverUnavailable, match=r"status 402: Insufficient credits\. Look"):
        hosted(concurrency=1, batch_texts=10).documents(TEXTS)
    assert (kept(desk), len(asked(server))) == (30, 40)


def test_the_key_may_stand_in_a_file_of_the_checkout_and_is_in_no_other_and_no_value(
    hosted: Make, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    encoder = hosted()
    with pytest.raises(RetrieverUnavailable, match="The variable OPENAI_API_KEY holds no key yet"):
        encoder.documents(["one"])
    (desk / ".env").write_text(f"OPENAI_API_KEY={KEY}\n")
    assert encoder.documents(TEXTS).shape == (100, 32)
    written = [path for path in desk.rglob("*") if path.is_file() and path.name != ".env"]
    assert set(files(desk)) < set(written)
    assert kept(desk) == 100
    assert not any(KEY.encode() in path.read_bytes() for path in written)
    assert KEY not in repr(vars(encoder)) + json.dumps(encoder.identity)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"model": "unheard-of"}, "no price is known for the model 'unheard-of'.*encoder.price"),
        ({"base_url": "ftp://x"}, "retriever.encoder.base_url is not the address of a server"),
        ({"fill": "perhaps"}, "retriever.encoder.fill: .*found 'perhaps'"),
        ({"dimension": 32}, "retriever.encoder.dimension: "),
    ],
)
def test_a_setting_that_cannot_be_is_named_as_it_stands_in_the_configuration(
    hosted: Make, settings: dict[str, Any], told: str
) -> None:
    with pytest.raises(ConfigurationError, match=told):
        hosted(**settings).documents(["one"])


# Paid once -----------------------------------------------------------------------------------


def test_a_vector_is_asked_for_once(hosted: Make, server: ProviderServer) -> None:
    first = hosted().documents([*TEXTS, *TEXTS])
    again = hosted(fill="never", base_url="http://127.0.0.1:9").documents(TEXTS[::-1])
    assert sorted(asked(server)) == sorted(TEXTS)
    np.testing.assert_array_equal(first[:100][::-1], again)
    np.testing.assert_array_equal(first[:100], first[100:])


# As version 0.2 wrote them.
BEFORE = """\
{"checksum":"1135f1a310340ed5c29137ac0cb233a49dc9ffcca92ee762735f0d3fa55c3400","row":\
{"key":"6a659e60f7e2f1ed537e898eeeb8dbe34b560cc8388ff72e7c224f07e4cc2c56","vector":"mpkZP83MTD8="}}
{"checksum":"58387c5288bada91cac2dd0d94461a8668daa646e6858c2518b784825cf7ef8b","row":\
{"key":"a17b4c31f64eb2e7824ad1c63271c02e99e4afa756cf5cc1f5010751bc510470","vector":"AACAvwAAAAA="}}
"""


def test_what_an_earlier_version_bought_is_not_bought_again(
    hosted: Make, server: ProviderServer, desk: Path
) -> None:
    folder = desk / ".bears" / "embeddings"
    folder.mkdir(parents=True)
    (folder / "text-embedding-3-small-2.document.jsonl").write_text(BEFORE, encoding="utf-8")
    found = hosted(dimensions=2, fill="never").documents(["zwei ü", "one"])
    np.testing.assert_allclose(found, [[-1.0, 0.0], [0.6, 0.8]], atol=1e-6)
    hosted(dimensions=2).questions(["one"])
    hosted(dimensions=2).documents(["one", "three"])
    assert asked(server) == ["one", "three"]


def test_what_can_change_a_vector_makes_it_another_one(
    hosted: Make, server: ProviderServer
) -> None:
    hosted().documents(["one"])
    hosted().questions(["one"])
    hosted(dimensions=64).documents(["one"])
    hosted(model="text-embedding-3-large").documents(["one"])
    free = {"input": 0, "output": 0}
    hosted(model="lab/mini", price=free).documents(["one"])
    hosted(model="lab--mini", price=free).documents(["one"])
    hosted(budget=1.0, batch_texts=3, concurrency=1).documents(["one"])
    assert asked(server) == 6 * ["one"]


FORK = multiprocessing.get_context("fork")


def begun(encoder: Hosted, texts: list[str]) -> BaseProcess:
    process: BaseProcess = FORK.Process(target=encoder.documents, args=(texts,))
    process.start()
    return process


def test_after_a_kill_only_what_was_not_kept_is_asked_for(
    hosted: Make, server: ProviderServer, desk: Path
) -> None:
    server.change(latency=0.02)
    for wanted in (10, 30, 60):
        process = begun(hosted(batch_texts=2, concurrency=4), TEXTS)
        while kept(desk) < wanted:
            assert process.is_alive()
            time.sleep(0.002)
        process.kill()
        process.join()
        process.close()
        before, have = len(asked(server)), kept(desk)
    np.testing.assert_allclose(hosted().documents(TEXTS), expected(TEXTS), atol=1e-6)
    assert len(asked(server)) - before == 100 - have
    assert len(asked(server)) <= 100 + 3 * 4 * 2
    assert kept(desk) == 100


@pytest.mark.parametrize("at", [0, 31, 32, 40, 32 + 127, ROW - 1])
def test_a_torn_row_and_a_flipped_bit_cost_their_own_vectors_alone(
    hosted: Make, server: ProviderServer, desk: Path, at: int
) -> None:
    """The bit is one of the key, the vector or the checksum."""
    hosted(concurrency=1).documents(TEXTS)
    (path,) = files(desk)
    content = bytearray(path.read_bytes())
    content[3 * ROW + at] ^= 0x10
    path.write_bytes(content[:-50])
    with pytest.raises(RetrieverUnavailable, match="2 of 100 documents have no vector"):
        hosted(fill="never").documents(TEXTS)
    np.testing.assert_allclose(hosted().documents(TEXTS), expected(TEXTS), atol=1e-6)
    assert asked(server)[100:] == [TEXTS[3], TEXTS[99]]
    hosted(fill="never").documents(TEXTS)


def test_of_two_processes_neither_asks_for_what_the_other_did(
    hosted: Make, server: ProviderServer, desk: Path
) -> None:
    server.change(latency=0.05)
    both = [begun(hosted(), TEXTS[:70]), begun(hosted(), TEXTS[30:])]
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    assert sorted(asked(server)) == sorted(TEXTS)
    assert kept(desk) == 100


def test_what_the_disk_does_not_take_is_not_bought_on(
    hosted: Make, server: ProviderServer, desk: Path
) -> None:
    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
        hosted(concurrency=1).documents(TEXTS)

    process = FORK.Process(target=fill)
    process.start()
    process.join()
    assert process.exitcode == 1
    # The last request is torn; its whole rows count.
    assert len(asked(server)) - 7 <= kept(desk) < len(asked(server)) < 100
    before, have = len(asked(server)), kept(desk)
    np.testing.assert_allclose(hosted().documents(TEXTS), expected(TEXTS), atol=1e-6)
    assert len(asked(server)) - before == 100 - have


def test_what_comes_after_a_write_that_failed_is_found(desk: Path) -> None:
    """A part of a row stays where the disk was full, and rows after it would be misread."""
    limit, vectors = resource.RLIMIT_FSIZE, np.ones((7, 32), np.float32)
    cache = VectorCache(desk, {"model": "m"})

    def fill() -> None:
        resource.setrlimit(limit, (ROW + 10, resource.getrlimit(limit)[1]))
        with pytest.raises(OSError, match="File too large"):
            cache.keep(TEXTS[:7], Encoded(vectors, 0, [0] * 7))
        resource.setrlimit(limit, (resource.getrlimit(limit)[1],) * 2)
        cache.keep(TEXTS[7:14], Encoded(vectors, 0, [0] * 7))

    process = FORK.Process(target=fill)
    process.start()
    process.join()
    assert process.exitcode == 0
    assert set(cache.find(TEXTS)) == {TEXTS[0], *TEXTS[7:14]}


def test_a_file_that_is_changed_in_the_meantime_gives_no_wrong_vector(
    hosted: Make, server: ProviderServer, desk: Path
) -> None:
    encoder = hosted()
    encoder.documents(TEXTS)
    np.testing.assert_allclose(encoder.documents(TEXTS), expected(TEXTS), atol=1e-6)
    (path,) = files(desk)
    with path.open("rb+") as stream:
        stream.write(path.read_bytes()[1:])
    np.testing.assert_allclose(encoder.documents(TEXTS), expected(TEXTS), atol=1e-6)
    assert sorted(asked(server)[100:]) == sorted(TEXTS)


def test_what_another_process_buys_is_found_by_one_that_runs(
    hosted: Make, server: ProviderServer
) -> None:
    encoder = hosted(fill="never")
    with pytest.raises(RetrieverUnavailable, match="100 of 100"):
        encoder.documents(TEXTS)
    other = begun(hosted(), TEXTS)
    other.join()
    np.testing.assert_allclose(encoder.documents(TEXTS), expected(TEXTS), atol=1e-6)
    assert len(asked(server)) == 100


# Money ---------------------------------------------------------------------------------------

DEAR = {"input": 1000.0, "output": 0.0}


def test_nothing_is_bought_unless_it_is_told_to(hosted: Make, server: ProviderServer) -> None:
    hosted().documents(TEXTS[:40])
    with pytest.raises(RetrieverUnavailable) as caught:
        hosted(fill="never").documents(TEXTS)
    for told in (
        "60 of 100 documents have no vector of text-embedding-3-small",
        "US$ 0.0000 to 0.0000",
        "retriever.encoder.budget=5",
        "retriever.encoder.fill=auto",
    ):
        assert told in str(caught.value)
    assert len(asked(server)) == 40


def test_the_cost_is_known_before_and_holds_what_is_charged(hosted: Make) -> None:
    with pytest.raises(RetrieverUnavailable) as caught:
        hosted(price=DEAR, fill="never").documents([*TEXTS, "", TEXTS[0]])
    said = re.search(r"100 of 100 .* US\$ ([\d.]+) to ([\d.]+)\.", str(caught.value))
    assert said
    encoder = hosted(price=DEAR)
    encoder.documents(TEXTS)
    assert float(said[1]) <= encoder.spent <= float(said[2])
    hosted(price=DEAR, fill="never").documents(TEXTS)


@pytest.mark.parametrize("slowly", [False, True])
def test_the_budget_is_never_passed_and_what_it_bought_is_kept(
    hosted: Make, server: ProviderServer, desk: Path, slowly: bool
) -> None:
    encoder = hosted(price=DEAR, budget=0.3, batch_texts=2, concurrency=1 if slowly else 8)
    said = r"the budget of 0\.3 USD is used up.* raise retriever\.encoder\.budget"
    with pytest.raises(RetrieverUnavailable, match=said):
        [encoder.documents(TEXTS[start : start + 20]) for start in range(0, 100, 20)]
    charged = sum(len(text.encode()) // 4 + 1 for text in asked(server)) * 1000 / 1_000_000
    assert encoder.spent == pytest.approx(charged)
    assert 0.2 < charged <= 0.3
    assert kept(desk) == len(asked(server)) < 100
    hosted(price=DEAR, budget=0.6).documents(TEXTS)
    assert len(asked(server)) == kept(desk) == 100


# The whole retriever -------------------------------------------------------------------------

DOCUMENTS = list(documents(["red apple tree", "green apple", "stone wall"]))
QUESTIONS = [
    Question("q1", "green apple juice", "", ("d1",), "s", "single-hop"),
    Question("q2", "old stone wall", "", ("d2",), "s", "single-hop"),
]


def overrides(server: ProviderServer, name: str, *more: str) -> list[str]:
    own = (f"base_url={server.url}", "budget=1.0", *more)
    return [f"retriever={name}", *(f"retriever.encoder.{word}" for word in own)]


@pytest.mark.parametrize(
    ("name", "dimensions"),
    [
        ("text-embedding-3-small", 1536),
        ("text-embedding-3-large", 3072),
        ("text-embedding-ada-002", 1536),
    ],
)
def test_every_choice_indexes_and_ranks_by_the_providers_vectors(
    desk: Path, server: ProviderServer, name: str, dimensions: int
) -> None:
    words = overrides(server, name, "fill=auto")
    config = compose(desk / "conf", read_selection(desk / "params.yaml"), words)
    retriever = build(config["retriever"], "retriever")
    searcher = opened(retriever, DOCUMENTS, desk)
    ranking = ask(searcher, "green apple juice")
    assert ids(ranking) == ["d1", "d0", "d2"]
    # Two of three words are one of two, and one of three, of those of the documents.
    scores = [hit.score for hit in ranking]
    assert scores == pytest.approx([2 / (3 * 2) ** 0.5, 1 / 3, 0.0], abs=1e-5)
    assert asked(server)[-1] == "green apple juice"
    told = {request.get("dimensions") for request in server.prompts()}
    assert told == ({None} if "ada" in name else {dimensions})
    before = len(asked(server))
    ask(searcher, "green apple juice")
    assert len(asked(server)) == before
