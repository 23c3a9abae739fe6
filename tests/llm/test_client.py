"""The online client, its budget and its table of models, against a loopback provider."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import struct
import time
import tracemalloc
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bears.errors import ConfigurationError
from bears.llm.client import Online
from bears.llm.concurrency import RequestPool
from bears.llm.faults import (
    Again,
    BudgetExhausted,
    ClientError,
    Problem,
    RateLimited,
    RequestFailed,
    RequestRefused,
    RunStopped,
    Unavailable,
    Unexplained,
    read_problem,
)
from bears.llm.limits import Budget
from bears.llm.models import (
    Access,
    Endpoint,
    Models,
    Price,
    ceiling,
    estimate,
    find_access,
    load_models,
)
from bears.llm.wire import ChatAnswer, ChatRequest, EmbeddingRequest
from tests.provider_faults import FAULTS, STRANGE, words_of
from tests.provider_server import ROOT, Json, ProviderServer, completion
from tests.slow_server import dripping

KEY = "sk-test-4f9d1c7e"
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
Outcome = ChatAnswer | ClientError


def shout(request: Json) -> str:
    """Return the text in capitals."""
    return str(request["messages"][-1]["content"]).upper()


def two_answers(request: Json) -> Json:
    """Answer the first two requests, and revoke the key before the third."""
    text = request["messages"][-1]["content"]
    refusal = {"status": 401, "body": {"error": {"message": "no such key", "code": "revoked"}}}
    return {"text": text} | (refusal if text == "text 2" else {})


def asked(number: int, **more: Any) -> list[ChatRequest]:
    return [ChatRequest(f"key-{n}", "Repeat.", f"text {n}", **more) for n in range(number)]


def endpoint(server: ProviderServer, **more: Any) -> Endpoint:
    given = {"api_key_env": "", "backoff_s": 0.01, "timeout_s": 2.0, "concurrency": 8, **more}
    return Endpoint("m", server.url, **given)


def ask(online: Online, requests: Iterable[ChatRequest]) -> dict[str, Outcome]:
    async def collect() -> dict[str, Outcome]:
        return {request.key: outcome async for request, outcome in online.answers(requests)}

    return asyncio.run(collect())


def asked_until_stopped(server: ProviderServer, **more: Any) -> tuple[dict[str, Outcome], str]:
    """Return the outcomes of a hundred requests, and why the run stopped."""
    got: dict[str, Outcome] = {}

    async def collect() -> None:
        async for request, outcome in Online(endpoint(server, **more), Models()).answers(
            asked(100)
        ):
            got[request.key] = outcome

    with pytest.raises(RunStopped) as stopped:
        asyncio.run(collect())
    return got, str(stopped.value)


def texts(answers: dict[str, Outcome]) -> dict[str, str]:
    return {k: answer.text for k, answer in answers.items() if isinstance(answer, ChatAnswer)}


@pytest.mark.slow
def test_every_request_is_answered_once() -> None:
    with ProviderServer("tests.llm.test_client:shout") as server:
        answers = ask(Online(endpoint(server), Models()), asked(100))
        stats = server.stats()
    assert texts(answers) == {f"key-{n}": f"TEXT {n}" for n in range(100)}
    assert stats["requests"] == 100
    first = answers["key-0"]
    assert isinstance(first, ChatAnswer)
    assert (first.finish_reason, first.refusal, first.model) == ("stop", None, "m")
    assert (first.input_tokens, first.output_tokens) == (4, 2)


def test_requests_are_taken_when_places_are_free_and_answers_come_when_ready() -> None:
    taken = []

    def requests() -> Iterator[ChatRequest]:
        for request in asked(50):
            taken.append(request.key)
            yield request

    async def look(url: str) -> None:
        online = Online(Endpoint("m", url, "", concurrency=4), Models())
        answers = online.answers(requests())
        async for _ in answers:
            break
        assert len(taken) <= 12
        await answers.aclose()  # type: ignore[attr-defined]

    with ProviderServer(latency=0.02) as server:
        asyncio.run(look(server.url))
        assert server.stats()["most in flight"] <= 4


def test_a_hanging_request_fails_in_time_and_alone() -> None:
    with ProviderServer(content={"text 3": "hang"}) as server:
        begin = time.monotonic()
        answers = ask(Online(endpoint(server, timeout_s=0.3, attempts=2), Models()), asked(6))
        assert time.monotonic() - begin < 5
    assert isinstance(answers["key-3"], RequestFailed)
    assert re.search("2 attempts.*in time", str(answers["key-3"]))
    assert len(texts(answers)) == 5


@pytest.mark.parametrize("text", ["a text", "an error"])
def test_a_reply_is_not_read_beyond_the_limit(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bears.llm.client.WHOLE_BYTES", 3_000_000)
    with ProviderServer(content={text: "bomb"}) as server:
        request = ChatRequest("key", "", text)
        ask(Online(endpoint(server, timeout_s=60), Models()), asked(1))
        tracemalloc.start()
        online = Online(endpoint(server, attempts=1, timeout_s=60), Models())
        answer = ask(online, [request])["key"]
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert isinstance(answer, RequestFailed)
    assert "the limit is 3000000" in str(answer)
    assert most < 20_000_000


def test_a_run_stops_after_the_first_few_similar_refusals() -> None:
    with ProviderServer(status=400) as server:
        got, stop = asked_until_stopped(server)
        made = server.stats()["requests"]
    # Eight are in flight, and four may come back before the fifth.
    assert made <= 12
    reason = f"the last one: {server.url} answers status 400"
    assert f"{made} requests in a row failed, {reason}" in stop
    assert {type(outcome) for outcome in got.values()} == {RequestFailed}


def test_a_few_refused_requests_do_not_stop_the_run() -> None:
    """Refusals come sooner than answers: the first few arrive before any answer."""
    bad = {f"text {n}": "unsafe" for n in (0, 1, 2, 3, 4, 5)}
    with ProviderServer(content=bad, latency=0.05) as server:
        answers = ask(Online(endpoint(server), Models()), asked(10))
        assert server.stats()["requests"] == 10
    assert [type(answers[f"key-{n}"]) for n in range(10)] == 6 * [RequestRefused] + 4 * [ChatAnswer]


@pytest.mark.parametrize(("attempts", "made"), [(6, 3), (2, 2)])
def test_a_refused_connection_stops_the_run(attempts: int, made: int) -> None:
    nowhere = Endpoint(
        "m", "http://127.0.0.1:9/v1", "", attempts=attempts, backoff_s=0.01, price=Price(1, 1)
    )
    budget, told = Budget(1.0), "127.0.0.1:9.*Does a server run"
    with pytest.raises(RunStopped, match=f"{made} attempts, .*{told}"):
        ask(Online(nowhere, Models(), budget), asked(100))
    # A request that was never sent costs nothing.
    assert (budget.spent, budget.reserved) == (0, 0)


def test_an_unavailable_server_gets_no_more_attempts_than_one_request_may_have() -> None:
    with ProviderServer(status=503) as server:
        got, stop = asked_until_stopped(server)
        assert server.stats()["requests"] <= 8 * Endpoint("m").attempts
    assert not got
    assert "6 attempts" in stop


def test_no_request_is_lost_if_the_server_comes_back_in_time() -> None:
    with ProviderServer(latency=0.01) as server:

        async def collect() -> int:
            online = Online(endpoint(server, attempts=9, backoff_s=0.1), Models())
            number = 0
            async for _, answer in online.answers(asked(60)):
                number += isinstance(answer, ChatAnswer)
                if number in (10, 11):
                    server.change(status=503 if number == 10 else 0)
            return number

        assert asyncio.run(collect()) == 60


def closed(_: Json) -> Json:
    """Answer that the server is closed for 30 years."""
    body = {"error": {"message": "closed for now", "code": "rate_limit_exceeded"}}
    return {"text": "", "status": 429, "headers": {"Retry-After": "999999999"}, "body": body}


def test_a_long_wait_is_shortened_reported_and_counts_as_an_attempt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bears.llm.limits.LONGEST_WAIT_S", 0.2)
    monkeypatch.setattr("bears.llm.concurrency.RequestPool.long_s", 0.1)
    with ProviderServer(f"{__name__}:closed") as server:
        answers = ask(Online(endpoint(server, attempts=3, concurrency=3), Models()), asked(3))
        assert server.stats()["requests"] == 9
    assert [type(answer) for answer in answers.values()] == 3 * [RequestFailed]
    assert "no answer after 3 attempts" in str(answers["key-0"])
    # All of them wait for the same reason.
    assert capsys.readouterr().err.count("waiting 0 s before the next request: http") == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [(401, "invalid_api_key"), (403, "no"), (404, "model_not_found"), (429, "insufficient_quota")],
)
def test_faults_of_the_account_stop_the_run_at_once(status: int, code: str) -> None:
    with ProviderServer(status=status, error_code=code, latency=0.02) as server:
        _, stop = asked_until_stopped(server)
        assert re.search(f"status {status}.*(Look at|The account)", stop)
        assert server.stats()["requests"] <= 16


def test_a_status_means_one_thing() -> None:
    meanings: dict[int, type[Exception]] = {429: RateLimited}
    meanings |= {413: RequestRefused} | dict.fromkeys((400, 406, 422), Unexplained)
    meanings |= dict.fromkeys((301, 302, 307, 308, 401, 402, 403, 404), RunStopped)
    meanings |= dict.fromkeys((408, 409, 500, 504), Again) | dict.fromkeys((502, 503), Unavailable)
    faults = {each: Problem(each, (), "").fault("message", None, "reader") for each in meanings}
    assert {status: type(fault) for status, fault in faults.items()} == meanings


def moved(request: Json) -> Json:
    """Answer that the address is now what the message says."""
    to = request["messages"][-1]["content"]
    return {"text": "", "status": 307, "headers": {"Location": f"{to}?key=hunter2"}}


@pytest.mark.slow
def test_texts_and_key_are_not_sent_where_a_server_points_to() -> None:
    with ProviderServer() as other, ProviderServer(f"{__name__}:moved") as server:
        request = ChatRequest("key", "", f"{other.url}/chat/completions")
        with pytest.raises(RunStopped) as stopped:
            ask(Online(endpoint(server), Models()), [request])
        assert other.stats() == {}
    assert "status 307" in str(stopped.value)
    assert f"{other.url}/chat/completions" in str(stopped.value)
    assert "hunter2" not in str(stopped.value)


def test_a_limit_that_stays_ends_the_run_in_the_servers_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """41 requests were sent in 7 minutes, and the limit per day was never shown."""
    monkeypatch.setattr("bears.llm.client.LONGEST_REFUSAL_S", 0.5)
    monkeypatch.setattr("bears.llm.concurrency.RequestPool.long_s", 0.5)
    body = {"error": {"message": "Rate limit reached: requests per day", "code": "rate"}}
    with ProviderServer(last=(10, 429, body)) as server:
        got, stop = asked_until_stopped(server)
        assert server.stats()["requests"] <= 10 + 8 + 8
    assert len(texts(got)) == len(got) == 10
    assert "requests per day" in stop
    assert "before the next request: http" in (err := capsys.readouterr().err)
    assert "requests per day" in err


def test_a_server_that_sends_headers_slowly_has_no_more_time_than_others() -> None:
    with dripping() as url:
        begin = time.monotonic()
        given = Endpoint("m", url, "", attempts=1, timeout_s=0.5, backoff_s=0.01)
        answers = ask(Online(given, Models()), asked(1))
        assert time.monotonic() - begin < 5
    assert "no answer in time" in str(answers["key-0"])


@pytest.mark.parametrize(("status", "body", "owner"), FAULTS)
def test_what_real_servers_say_tells_whose_fault_it_is(status: int, body: Any, owner: str) -> None:
    problem = read_problem(status, json.dumps(body, ensure_ascii=False).encode())
    kinds = {"account": RunStopped, "request": RequestRefused, "server": Again}
    assert issubclass(problem.meaning, kinds.get(owner, Unexplained))
    assert words_of(body) in str(problem)
    # The words decide nothing: those of all others leave the meaning as it is.
    meanings = {replace(problem, message=words_of(other)).meaning for _, other, _ in FAULTS}
    assert meanings == {problem.meaning}


@pytest.mark.parametrize("body", STRANGE)
def test_an_error_of_another_kind_of_server_stops_the_run_at_the_first_reply(body: Any) -> None:
    with ProviderServer(last=(0, 200, body)) as server:
        _, stop = asked_until_stopped(server, concurrency=1)
        assert server.stats()["requests"] == 1
    assert str(body.get("message", json.dumps(body))) in stop


def test_finished_answers_are_yielded_before_the_run_stops() -> None:
    got = []

    async def collect(server: ProviderServer) -> None:
        async for request, _ in Online(endpoint(server), Models()).answers(asked(100)):
            got.append(request.key)
            if len(got) == 20:
                server.change(status=401)

    with ProviderServer(latency=0.01) as server:
        with pytest.raises(RunStopped):
            asyncio.run(collect(server))
        assert server.stats()["status 200"] == len(got)


def test_a_request_that_waits_for_its_next_attempt_is_not_sent_after_the_run_stopped() -> None:
    """The first request waits, and the third finds the key revoked."""
    sleeper = {"text 0": "server_error"}
    with ProviderServer(f"{__name__}:two_answers", latency=0.05, content=sleeper) as server:
        begin = time.perf_counter()
        got, _ = asked_until_stopped(server, concurrency=2, backoff_s=20.0)
        assert time.perf_counter() - begin < 10
        assert server.stats()["requests"] == 3
    assert texts(got) == {"key-1": "text 1"}


def test_nothing_runs_after_the_caller_stops_reading() -> None:
    ended = []

    async def answer(name: str) -> str:
        try:
            await asyncio.sleep(0 if name == "quick" else 60)
        finally:
            ended.append(name)
        return name

    async def read_one() -> None:
        outcomes = RequestPool().outcomes(["slow", "quick", "slow too"], answer, 3)
        async for _ in outcomes:
            break
        await outcomes.aclose()  # type: ignore[attr-defined]

    asyncio.run(read_one())
    assert sorted(ended) == ["quick", "slow", "slow too"]


def test_parameters_that_the_model_refuses_are_left_out() -> None:
    models = load_models(ROOT / "conf" / "models.yaml")
    request = ChatRequest("k", "s", "u", SCHEMA, 99, {"temperature": 0, "seed": 7})
    new = request.body("gpt-5", models.model("gpt-5"))
    assert "temperature" not in new
    assert (new["seed"], new["max_completion_tokens"]) == (7, 99)
    old = request.body("gpt-4o", models.model("gpt-4o"))
    assert (old["temperature"], old["max_tokens"]) == (0, 99)
    assert old["response_format"]["json_schema"]["schema"] == SCHEMA


def test_a_server_without_schemas_gets_them_as_text_for_the_rest_of_the_run() -> None:
    with ProviderServer(no_schema=True) as server:
        answers = ask(Online(endpoint(server, concurrency=1), Models()), asked(5, schema=SCHEMA))
        prompts = server.prompts()
    assert len(texts(answers)) == 5
    assert ["response_format" in prompt for prompt in prompts] == [True] + [False] * 5
    assert json.dumps(SCHEMA, sort_keys=True) in prompts[1]["messages"][0]["content"]


def test_no_message_and_no_log_contains_the_key(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capsys: Any
) -> None:
    monkeypatch.setenv("A_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    # This server echoes the key in each error.
    with ProviderServer(status=500) as server:
        given = endpoint(server, api_key_env="A_KEY", attempts=2)
        online = Online(given, Models())
        answers = ask(online, asked(3))
        server.change(status=401)
        with pytest.raises(RunStopped) as caught:
            ask(online, asked(3))
    shown = [repr(given), repr(online), repr(vars(online)), caplog.text, *capsys.readouterr()]
    shown += [f"{error}{error!r}{vars(error)}" for error in (*answers.values(), caught.value)]
    chain: BaseException | None = caught.value
    while chain is not None:
        shown.append(f"{chain}{vars(chain)}")
        chain = chain.__cause__ or chain.__context__
    assert "[key]" in str(answers["key-0"])
    assert not [text for text in shown if KEY in text]


def test_a_missing_or_odd_key_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("A_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="A_KEY is not set"):
        find_access(Endpoint("m", api_key_env="A_KEY"), tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigurationError, match="needs a key"):
        find_access(Endpoint("m", api_key_env=""), tmp_path)
    monkeypatch.setenv("A_KEY", "bad\nkey")
    with pytest.raises(ConfigurationError) as caught:
        find_access(Endpoint("m", api_key_env="A_KEY"), tmp_path)
    assert "bad" not in str(caught.value)


def test_dotenv_does_not_override_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("A_KEY=from-file\nOPENAI_BASE_URL=http://127.0.0.1:1/v1\n")
    monkeypatch.delenv("A_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    access = find_access(Endpoint("m", api_key_env="A_KEY"), tmp_path)
    assert (access.key(), access.base_url) == ("from-file", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("A_KEY", "from-environment")
    assert find_access(Endpoint("m", api_key_env="A_KEY"), tmp_path).key() == "from-environment"
    assert KEY not in repr(Access("http://a", KEY))


ODD: list[Any] = [None, [], [1], "12", {}, True, 7, {"prompt_tokens": [5], "completion_tokens": {}}]
ODD += [{"prompt_tokens": n, "completion_tokens": n} for n in (10**12, 10**399, -1, 1e9, True, "3")]


@pytest.mark.parametrize("usage", ODD, ids=lambda usage: f"{usage!s:.20}")
def test_an_answer_with_unusable_usage_counts_as_the_most_it_could_cost(usage: Any) -> None:
    request = ChatRequest("k", "", "臺灣", max_output_tokens=50)
    body = completion({"messages": [{"content": "臺灣"}], "model": "m"}, "島") | {"usage": usage}
    answer = request.read(body)
    assert answer.text == "島"
    # A token has at least one byte.
    assert answer.input_tokens >= len("臺灣".encode())
    assert answer.output_tokens == 50
    assert Price(1, 1).of(answer.input_tokens, answer.output_tokens) < 0.001
    row = {"index": 0, "embedding": [1.0]}
    assert EmbeddingRequest(("臺灣",), 1).read({"data": [row], "usage": usage}).input_tokens == 6


def test_vectors_come_as_numbers_or_as_base64_of_four_bytes_each() -> None:
    given = [1.0, -0.5]
    packed = b64encode(struct.pack("<2f", *given)).decode()
    for said in (given, packed):
        answer = EmbeddingRequest(("a",), 2).read({"data": [{"index": 0, "embedding": said}]})
        assert answer.vectors.tolist() == [given]
    odd = {"index": 0, "embedding": f"{packed[:4]}!{packed[4:]}"}
    with pytest.raises(ValueError, match="no embeddings"):
        EmbeddingRequest(("a",), 2).read({"data": [odd]})


def test_every_model_of_the_table_has_a_price_with_its_source() -> None:
    table = load_models(ROOT / "conf" / "models.yaml")
    assert {"gpt-4.1", "gpt-4.1-mini", "gpt-4o-mini", "o4-mini", "gpt-5"} <= table.models.keys()
    for name in table.models:
        price = Endpoint(name).price_in(table)
        assert price.date, name
        assert price.source != Price(1, 1).source, name
        # Models of embeddings have no output tokens.
        assert 0 < price.input < (price.output or 1), name


@given(st.text())
def test_estimates_are_in_order(text: str) -> None:
    low, high = estimate(text)
    assert 0 <= low <= high <= ceiling(text)


Step = tuple[int, int, float, str]


ENDS = st.sampled_from(["answered", "refused", "lost"])
STEP = st.tuples(st.integers(0, 2000), st.integers(1, 4000), st.floats(0, 1), ENDS)


@given(limit=st.floats(0, 0.01), steps=st.lists(STEP, max_size=30))
def test_spending_never_exceeds_the_limit(limit: float, steps: list[Step]) -> None:
    budget, price = Budget(limit), Price(0.4, 1.6)

    async def one(step: Step) -> None:
        sent, answered, share, end = step
        amount = price.of(sent, answered)
        try:
            await budget.reserve(amount)
        except BudgetExhausted:
            return
        assert budget.spent + budget.reserved <= limit + 1e-9
        await asyncio.sleep(0)
        actual = price.of(int(sent * share), int(answered * share))
        await budget.settle(amount, {"answered": actual, "refused": 0, "lost": amount}[end])
        assert budget.spent <= limit + 1e-9

    async def everything() -> None:
        await asyncio.wait_for(asyncio.gather(*map(one, steps)), 10)

    asyncio.run(everything())
    assert budget.reserved == 0


def test_the_run_stops_when_the_budget_is_used_up() -> None:
    with ProviderServer(latency=0.01) as server:
        budget = Budget(0.01)
        requests = iter(asked(500, max_output_tokens=40))
        priced = endpoint(server, price=Price(10, 10))
        answers = ask(Online(priced, Models(), budget), requests)
        stats = server.stats()
    good = texts(answers)
    assert 0 < len(good) == stats["requests"] < 500
    assert 0.007 < budget.spent <= 0.01
    assert all(isinstance(answers[key], BudgetExhausted) for key in answers.keys() - good.keys())
    assert len(list(requests)) == 500 - len(answers)


def test_a_lost_answer_counts_as_paid_and_a_refused_one_does_not() -> None:
    with ProviderServer(content={"text 0": "cut", "text 1": "server_error"}) as server:
        budget, price = Budget(None), Price(10, 10)
        priced = endpoint(server, attempts=2, price=price)
        answers = ask(Online(priced, Models(), budget), asked(2))
    assert all(isinstance(answer, ClientError) for answer in answers.values())
    most = price.of(asked(1)[0].most_input_tokens(), asked(1)[0].max_output_tokens)
    assert budget.spent == pytest.approx(2 * most)
