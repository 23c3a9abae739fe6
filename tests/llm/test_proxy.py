"""Kept replies for other programs: replayed, requested once, within a budget."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bears.llm.faults import RequestRefused
from bears.llm.kept import Kept, KeptReply, extend
from bears.llm.models import Price
from bears.llm.proxy import (
    IDLE,
    NAME,
    ChatSettings,
    EmbeddingSettings,
    Proxy,
    ProxySettings,
    chat_body,
    proxied,
    wanted_texts,
)
from bears.llm.server import SAMPLE, serving
from tests.provider_server import ROOT, Json, ProviderServer

FLOATS = {"model": "e", "input": "x", "encoding_format": "float"}
Scenario = Callable[[openai.AsyncOpenAI, Proxy], Awaitable[Any]]


def counting(request: Json) -> Any:
    """Never give the same answer twice, and refuse the first request if it is for luck."""
    counting.calls += 1  # type: ignore[attr-defined]
    text, number = request["messages"][-1]["content"], counting.calls  # type: ignore[attr-defined]
    return {"status": 400, "text": ""} if (text, number) == ("luck", 1) else f"{number}: {text}"


counting.calls = 0  # type: ignore[attr-defined]


class Front:
    """A checkout with kept replies, in front of a provider."""

    def __init__(self, root: Path, server: ProviderServer) -> None:
        self.root, self.server = root, server
        (root / "conf").mkdir()
        shutil.copy(ROOT / "conf" / "models.yaml", root / "conf")
        self.kept = Kept(NAME, root / "mini.proxied.jsonl", root)

    def settings(self, **more: Any) -> ProxySettings:
        given: dict[str, Any] = {"api_key_env": "", "backoff_s": 0.01, "attempts": 2}
        given |= {"base_url": self.server.url, "price": Price(1, 1), **more}
        return ProxySettings("here", ChatSettings("m", **given), EmbeddingSettings("e", **given))

    def run(self, scenario: Scenario, ask: bool = True, **more: Any) -> Any:
        """Run a program that uses the openai client, and return its result."""

        async def inside() -> Any:
            settings = self.settings(**more)
            async with (
                proxied(settings, self.kept, ask) as proxy,
                serving(proxy, settings.models) as address,
                openai.AsyncOpenAI(
                    base_url=address.base_url, api_key=address.key, max_retries=0
                ) as client,
            ):
                return await scenario(client, proxy)

        return asyncio.run(inside())

    def asked(self) -> int:
        return int(self.server.stats().get("requests", 0))


@pytest.fixture
def front(tmp_path: Path) -> Iterator[Front]:
    with ProviderServer(f"{__name__}:counting") as server:
        yield Front(tmp_path, server)


async def say(client: openai.AsyncOpenAI, text: Any = "hello", sample: int = 0, **more: Any) -> str:
    messages: Any = [{"role": "user", "content": text}]
    answer = await client.chat.completions.create(
        model="m", messages=messages, extra_headers={SAMPLE: str(sample)}, **more
    )
    return str(answer.model_dump_json())


def refused(send: Callable[[openai.AsyncOpenAI], Awaitable[object]]) -> Scenario:
    """Return a scenario that gives the status, code and message of an error."""

    async def sent(client: openai.AsyncOpenAI, _: Proxy) -> tuple[int, Any, str]:
        with pytest.raises(openai.APIStatusError) as error:
            await send(client)
        return error.value.status_code, error.value.code, error.value.message

    return sent


def test_answers_are_replayed_to_the_byte_without_a_model(front: Front, tmp_path: Path) -> None:
    used: dict[str, KeptReply] = {}

    async def both(client: openai.AsyncOpenAI, proxy: Proxy) -> tuple[str, str]:
        vectors = await client.embeddings.create(model="e", input=["a b", "c"])
        answer = await say(client)
        used.update(proxy.used)
        return answer, vectors.model_dump_json()

    first = front.run(both)
    front.server.change(status=500)
    assert front.run(both) == first
    assert front.run(both, ask=False) == first
    # The published replies alone need no key.
    extend(front.kept.replies, NAME, used.values())
    (tmp_path / ".bears" / "journal.jsonl").unlink()
    assert front.run(both, ask=False, api_key_env="NO_SUCH_VARIABLE") == first
    assert front.asked() == 2


def test_equal_requests_in_flight_are_paid_once_also_after_the_first_one_failed(
    front: Front,
) -> None:
    front.server.change(latency=0.2)

    async def many(client: openai.AsyncOpenAI, _: Proxy) -> list[Any]:
        asked = (say(client, "luck") for _ in range(20))
        return await asyncio.gather(*asked, return_exceptions=True)

    found = front.run(many)
    assert len({str(each) for each in found}) == 2
    assert [type(each) for each in found].count(str) == 19
    assert front.server.stats()["status 200"] == 1


def test_an_answer_is_kept_if_its_client_has_left(front: Front) -> None:
    front.server.change(latency=0.3)

    async def one_leaves(client: openai.AsyncOpenAI, _: Proxy) -> str:
        first = asyncio.create_task(say(client))
        await asyncio.sleep(0.1)
        first.cancel()
        return await say(client)

    assert "1: hello" in front.run(one_leaves)
    assert front.asked() == 1


def test_a_second_sample_of_a_request_is_kept_separately(front: Front) -> None:
    async def three(client: openai.AsyncOpenAI, _: Proxy) -> list[str]:
        return [await say(client, sample=n) for n in (0, 1, 0)]

    first = front.run(three)
    assert first[0] == first[2] != first[1]
    assert front.run(three, ask=False) == first
    assert front.asked() == 2


def test_a_text_has_one_vector_in_every_form_of_a_request(front: Front) -> None:
    async def ways(client: openai.AsyncOpenAI, _: Proxy) -> list[Any]:
        found: list[Any] = []
        for form, texts in (("base64", ["x y", "z"]), ("base64", "x y"), ("float", "x y")):
            body = {"model": "e", "encoding_format": form, "input": texts}
            answer: Any = await client.post("/embeddings", cast_to=object, body=body)
            found.append(answer["data"][0]["embedding"])
        plain = await client.embeddings.create(model="e", input="x y")
        return [*found, plain.data[0].embedding]

    packed, again, by_number, by_client = front.run(ways)
    assert (packed, by_number) == (again, by_client)
    assert front.asked() == 1


PICTURE = {"type": "image_url", "image_url": {"url": "http://a/b.png"}}


@pytest.mark.parametrize(
    ("status", "send"),
    [
        (404, lambda client: say(client, "unheard")),
        (400, lambda client: say(client, stream=True)),
        (400, lambda client: say(client, max_tokens=-1)),
        (400, lambda client: say(client, sample=-1)),
        (400, lambda client: client.chat.completions.create(model="other", messages=[])),
        (400, lambda client: say(client, [PICTURE])),
        (400, lambda client: client.embeddings.create(model="e", input=[[1, 2]])),
        (401, lambda client: say(client.with_options(api_key="guessed"))),
    ],
)
def test_a_request_that_is_not_served_gets_an_error_of_the_protocol_and_costs_nothing(
    status: int, send: Any, front: Front
) -> None:
    codes = {404: "reply_missing", 400: "invalid_request_error", 401: "invalid_api_key"}
    assert front.run(refused(send), ask=status != 404)[:2] == (status, codes[status])
    assert front.asked() == 0


def test_the_budget_holds_and_paid_answers_are_kept(front: Front) -> None:
    async def spend(client: openai.AsyncOpenAI, proxy: Proxy) -> tuple[int, set[Any], float]:
        tries = (say(client, f"number {n}", max_tokens=1000) for n in range(40))
        outcomes = await asyncio.gather(*tries, return_exceptions=True)
        failed = [each for each in outcomes if isinstance(each, openai.APIStatusError)]
        return len(outcomes) - len(failed), {each.code for each in failed}, proxy.spent

    done, codes, spent = front.run(spend, budget=0.0014, concurrency=4)
    assert 0 < done < 40
    assert codes == {"budget_exhausted"}
    assert spent <= 0.0014
    assert len(list(front.kept.rows())) == done


def modern(request: Json) -> Any:
    """Accept the length limit only under its newer name."""
    if "max_completion_tokens" in request and "max_tokens" not in request:
        return f"at most {request['max_completion_tokens']}"
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    return {"text": "", "status": 400, "body": {"error": {"message": message}}}


def test_the_length_limit_gets_the_name_that_the_model_accepts(tmp_path: Path) -> None:
    async def talk(client: openai.AsyncOpenAI, _: Proxy) -> list[str]:
        return [await say(client, "one"), await say(client, "two", max_tokens=7)]

    with ProviderServer(f"{__name__}:modern") as server:
        front = Front(tmp_path, server)
        first, second = front.run(talk)
        assert "at most 4096" in first
        assert "at most 7" in second
        assert front.asked() == 3
        assert front.run(talk, ask=False) == [first, second]


def test_a_key_that_is_refused_is_tried_once_and_never_shown(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROXY_KEY", "sk-secret-of-mine")
    front.server.change(key="another")

    async def three(*given: Any) -> list[Any]:
        return [await refused(lambda client, t=text: say(client, t))(*given) for text in "abc"]  # type: ignore[misc]

    found = front.run(three, api_key_env="PROXY_KEY")
    assert [status for status, *_ in found] == [502] * 3
    assert front.asked() == 0  # the provider counts those that it lets in
    assert "sk-secret-of-mine" not in str(found)


@pytest.mark.parametrize("damaged", ["no JSON", "[]", '{"choice": 1}', "[" * 100_000])
def test_a_damaged_reply_is_refused(damaged: str, front: Front) -> None:
    async def used(client: openai.AsyncOpenAI, proxy: Proxy) -> Any:
        await say(client)
        vector = await client.embeddings.create(model="e", input="x")
        assert vector.data
        return proxy.used

    entries = [replace(entry, answer=damaged) for entry in front.run(used).values()]
    extend(front.kept.replies, NAME, entries)

    for send in (say, lambda client: client.post("/embeddings", cast_to=object, body=FLOATS)):
        status, _, message = front.run(refused(send), ask=False)
        assert (status, "a kept reply" in message) == (500, True)


@pytest.mark.parametrize("fault", ["empty", "no_choices", "invalid_json", "bad_request", "cut"])
def test_a_fault_is_not_kept(fault: str, front: Front) -> None:
    front.server.change(chances={fault: 1.0})

    front.run(refused(say))
    assert list(front.kept.rows()) == []
    front.server.change(chances={})
    assert "hello" in front.run(lambda client, _: say(client))


MESSAGES = [{"role": "user", "content": "?"}]


@given(
    st.dictionaries(
        st.sampled_from(["temperature", "seed", "top_p", "response_format", "tools", "stop", "n"]),
        st.integers(1, 5),
        min_size=1,
    ),
    st.dictionaries(st.sampled_from(sorted(set(IDLE) - {"stream"})), st.text(max_size=3)),
)
def test_only_parts_that_can_change_an_answer_are_sent(
    more: dict[str, int], idle: dict[str, str]
) -> None:
    plain = {"model": "m", "messages": MESSAGES}
    assert chat_body({**plain, **more, **idle}, 9) == {**plain, **more, "max_tokens": 9}
    assert chat_body({**plain, **more}, 9) != chat_body(plain, 9)


@pytest.mark.slow
@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner)))
def test_any_value_of_any_part_is_accepted_or_refused(value: Any) -> None:
    for name in ("model", "messages", "stream", "max_tokens", "n"):
        with suppress(RequestRefused):
            assert chat_body({"model": "m", "messages": MESSAGES, name: value}, 9)["max_tokens"]
    with suppress(RequestRefused):
        assert all(isinstance(text, str) for text in wanted_texts({"model": "e", "input": value}))


class Served:
    """``bears replies serve`` in its own process."""

    def __init__(self, root: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bears", "replies", "serve", *words],
            cwd=ROOT,
            env={**os.environ, "DVC_ROOT": str(root)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        lines = [self.process.stdout.readline() for _ in range(2)]
        exported = dict(re.findall(r"^export (\w+)=(\S+)$", "".join(lines), re.MULTILINE))
        self.client = openai.OpenAI(
            base_url=exported["OPENAI_BASE_URL"], api_key=exported["OPENAI_API_KEY"]
        )

    def ask(self, text: str) -> str:
        answer = self.client.chat.completions.create(
            model="gpt-4.1-mini", messages=[{"role": "user", "content": text}]
        )
        return answer.model_dump_json()

    def end(self, number: signal.Signals) -> str:
        self.client.close()
        self.process.send_signal(number)
        _, printed = self.process.communicate(timeout=60)
        return printed


@pytest.mark.slow
def test_a_server_that_is_killed_keeps_every_answer_that_it_gave(front: Front) -> None:
    words = [f"proxy.chat.base_url={front.server.url}", "proxy.chat.api_key_env=''"]
    first = Served(front.root, "--ask", *words)
    answers = [first.ask(f"question {n}") for n in range(5)]
    first.end(signal.SIGKILL)
    second = Served(front.root, *words)
    assert [second.ask(f"question {n}") for n in range(5)] == answers
    with pytest.raises(openai.NotFoundError):
        second.ask("unheard")
    assert "5 requests answered, 0 of them by asking a model" in second.end(signal.SIGINT)
    assert second.process.returncode == 130
    assert front.asked() == 5
