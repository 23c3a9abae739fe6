"""The program for the environment of `make ragas`: JSON from standard input to standard output.

It reads what `bears.answers.ragas.run` writes. It prints the versions of the packages, then a line
for each request of ragas and for each metric of each row when it is done. Other output of the
packages goes to standard error. It imports nothing from bears.
"""

import asyncio
import hashlib
import json
import math
import os
import re
import sys
from collections import Counter, defaultdict
from contextvars import ContextVar
from importlib.metadata import version
from typing import Any

import httpx2
import openai

PACKAGES = ("ragas", "instructor", "openai")
KEPT = ("object", "model", "choices", "data", "usage")
"""Parts of an answer that are kept; its id and its date always differ."""
ACCOUNT = (301, 302, 303, 307, 308, 401, 402, 403, 404, 429)
"""Statuses after which no more is asked: the key, model, address or account is wrong."""
SEEN: ContextVar[Counter[bytes]] = ContextVar("SEEN")
"""The requests of one metric of one row. A repeated request asks for a second sample."""
LACKING: ContextVar[list[str]] = ContextVar("LACKING")
"""Why requests of one metric of one row have no reply: a code and words."""


class Replies(httpx2.AsyncBaseTransport):
    """Give ragas the known replies, and ask the models for the others.

    Args:
        asked: what the program reads. Without ``key``, no model is asked; ``account`` are words
            of an error after which no more is asked.
        out: gets a line for each request, before ragas gets the reply.
    """

    def __init__(self, asked: dict[str, Any], out: Any) -> None:
        self._known, self._prices, self._budget = asked["known"], asked["prices"], asked["budget"]
        self._key, self._account = asked["key"], asked["account"]
        self._client = self._key and openai.AsyncOpenAI(
            base_url=asked["base_url"],
            api_key=self._key,
            max_retries=asked["attempts"] - 1,
            timeout=asked["timeout_s"],
            http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False),
        )
        # The client waits at most 8 s between two attempts.
        self._longest_s = asked["attempts"] * (asked["timeout_s"] + 8)
        self._out, self._spent, self._stopped = out, 0.0, ""
        self._locks = defaultdict[str, asyncio.Lock](asyncio.Lock)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the reply to a request, or a 404 if it has none."""
        seen, path, body = SEEN.get(), request.url.path, json.loads(request.content)
        sample = seen[request.content]
        seen[request.content] += 1
        content = canonical({"path": path, "body": body, "sample": sample})
        line = {"key": (key := hashlib.sha256(content.encode()).hexdigest())}
        # Equal requests in flight are sent once.
        async with self._locks[key]:
            if key not in self._known:
                line |= await self._asked(path, body)
                if line["answer"]:
                    self._known[key] = json.loads(line["answer"])
            try:
                print(json.dumps(line), file=self._out, flush=True)
            except OSError:
                # The parent is gone: a reply could not be kept any more.
                os._exit(1)
        if key in self._known:
            return httpx2.Response(200, json=self._known[key])
        LACKING.get().append(f"{line['code']}: {line['problem']}")
        return httpx2.Response(404, json={"error": {"code": line["code"]}})

    async def _asked(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Ask a model; return the line about the request."""
        chat = "messages" in body
        texts = [each["content"] for each in body["messages"]] if chat else body["input"]
        line = {
            "field": "chat" if chat else "embeddings",
            "text": texts if isinstance(texts, str) else "\n".join(texts),
            "most_tokens": body.get("max_tokens") or body.get("max_completion_tokens") or 0,
            "answer": "",
            "problem": "",
        }
        if not self._client:
            return line | {"code": "reply_missing"}
        if self._budget is not None and self._spent >= self._budget:
            problem = f"the budget of {self._budget} USD is used up; raise ragas.budget to continue"
            return line | {"code": "budget_exhausted", "problem": problem}
        line["code"] = "no_answer"
        if self._stopped:
            return line | {"problem": self._stopped}
        try:
            # For all attempts; the client's own limit restarts with every part of an answer.
            async with asyncio.timeout(self._longest_s):
                came = await self._client.post(path, cast_to=httpx2.Response, body=body)
        except openai.APIStatusError as error:
            return line | self._failed(error.response.text, error.status_code)
        except (openai.OpenAIError, TimeoutError) as error:
            # A lost connection ends the run too.
            return line | self._failed(str(error.__cause__ or error) or "no answer in time", 404)
        return line | self._paid(line, came.content)

    def _failed(self, words: str, status: int) -> dict[str, Any]:
        """Return why a request has no reply, and ask no more if none can have one."""
        # A server may echo the key.
        problem = f"{self._client.base_url}: {words}".replace(self._key, "[key]")[:400]
        if status in ACCOUNT or re.search(self._account, words):
            self._stopped = problem
        return {"problem": problem}

    def _paid(self, line: dict[str, Any], content: bytes) -> dict[str, Any]:
        """Add up the price of an answer; return what to keep of it, or why it cannot be kept."""
        # A token is at least one byte.
        sent, came = len(line["text"].encode()), line["most_tokens"]
        answer = ""
        try:
            found = json.loads(content)
            if found.get("error"):
                return self._failed(json.dumps(found["error"], ensure_ascii=False), 200)
            usage = found.get("usage") or {}
            sent = int(usage.get("prompt_tokens") or sent)
            came = int(usage.get("completion_tokens") or came)
            problem = flaw(found)
            answer = canonical({name: found[name] for name in KEPT if name in found})
            # UTF-8 cannot hold half of a character.
            answer.encode()
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            problem = f"the answer cannot be read ({type(error).__name__})"
        price = self._prices[line["field"]]
        usd = (sent * price["input"] + came * price["output"]) / 1_000_000
        self._spent += usd
        return {"usd": usd, "problem": problem, "answer": "" if problem else answer}


def canonical(value: Any) -> str:
    """Return JSON that is the same for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def flaw(answer: dict[str, Any]) -> str:
    """Return why an answer cannot be kept; empty if it can."""
    if "data" in answer:
        return ""
    choice = answer["choices"][0]
    if (end := choice.get("finish_reason")) not in ("stop", None):
        return f"the answer was cut off ({end}); if it was too long, raise ragas.answer_tokens"
    return "" if (choice["message"].get("content") or "").strip() else "the answer is empty"


def metrics(client: openai.AsyncOpenAI, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the metrics by name; ``client`` gets all their requests."""
    from ragas.embeddings import OpenAIEmbeddings
    from ragas.llms import llm_factory
    from ragas.metrics import collections

    llm = llm_factory(asked["model"], client=client, max_tokens=asked["answer_tokens"])
    vectors = OpenAIEmbeddings(client, asked["embeddings"])
    return {
        "faithfulness": collections.Faithfulness(llm),
        "answer_relevancy": collections.AnswerRelevancy(llm, vectors),
        "context_precision": collections.ContextPrecision(llm),
        "context_recall": collections.ContextRecall(llm),
    }


def inputs(metric: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a row that a metric uses."""
    given = {
        "user_input": row["question"],
        "response": row["answer"],
        "reference": row["ground_truth"],
        "retrieved_contexts": row["contexts"],
    }
    unused = {
        "faithfulness": ("reference",),
        "answer_relevancy": ("reference", "retrieved_contexts"),
    }.get(metric, ("response",))
    return {name: value for name, value in given.items() if name not in unused}


async def main(asked: dict[str, Any], out: Any) -> None:
    """Score every row by every metric, several at once."""
    client = openai.AsyncOpenAI(
        # `Replies` answers: nothing is sent there, and nothing is tried again.
        base_url="http://kept",
        api_key="none",
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=Replies(asked, out)),
    )
    known = metrics(client, asked)
    places = asyncio.Semaphore(asked["concurrency"])
    print(json.dumps({name: version(name) for name in PACKAGES}), file=out, flush=True)

    async def score(place: int, row: dict[str, Any], metric: str) -> None:
        scored: dict[str, Any] = {"row": place, "metric": metric, "value": None, "problem": ""}
        async with places:
            SEEN.set(Counter())
            lacking: list[str] = []
            LACKING.set(lacking)
            try:
                value = float((await known[metric].ascore(**inputs(metric, row))).value)
                scored |= {"value": value} if math.isfinite(value) else {"problem": "NaN"}
            except Exception as error:
                scored["problem"] = f"{type(error).__name__}: {error}"
            if lacking:
                # Whatever ragas made of it.
                scored |= {"value": None, "problem": lacking[0]}
        print(json.dumps(scored), file=out, flush=True)

    rows = enumerate(asked["rows"])
    await asyncio.gather(*(score(n, row, metric) for n, row in rows for metric in known))


if __name__ == "__main__":
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    asyncio.run(main(json.load(sys.stdin), out))
