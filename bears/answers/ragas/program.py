"""The program for the environment of `make ragas`, which speaks with `bears.answers.ragas.run`.

The first line of standard input says what to score, and each later one has replies to requests.
Standard output gets the versions of the packages. After each line of replies come a line for each
request of ragas and for each score, and ``null``; what lacked a reply is scored again the next
time. All lines are JSON. Other output of the packages goes to standard error. The program asks no
model, and imports nothing from bears.
"""

import asyncio
import hashlib
import json
import math
import os
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from importlib.metadata import version
from typing import Any, TextIO

import httpx2
import openai

PACKAGES = ("ragas", "instructor", "openai")
ASKED: ContextVar[list[tuple[bytes, bool]]] = ContextVar("ASKED")
"""The requests of one metric of one row, and whether they have a reply."""


class Replies(httpx2.AsyncBaseTransport):
    """Give ragas the kept replies.

    Args:
        known: the replies by key.
        out: gets a line for each request.
    """

    def __init__(self, known: Mapping[str, Any], out: TextIO) -> None:
        self._known, self._out = known, out

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the reply to a request, or a 404 if it has none."""
        before, content = ASKED.get(), request.content
        # A repeated request asks for a second sample.
        sample = sum(content == each for each, _ in before)
        asked = {"path": request.url.path, "body": json.loads(content), "sample": sample}
        line = json.dumps(asked, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        key = hashlib.sha256(line.encode()).hexdigest()
        known = key in self._known
        before.append((content, known))
        print(json.dumps({"key": key, "body": {} if known else asked["body"]}), file=self._out)
        return httpx2.Response(200, json=self._known[key]) if known else httpx2.Response(404)


def metrics(client: openai.AsyncOpenAI, asked: Mapping[str, Any]) -> dict[str, Any]:
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


def inputs(metric: str, row: Mapping[str, Any]) -> dict[str, Any]:
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


async def main(out: TextIO) -> None:
    """Score every row by every metric."""
    asked, replies = json.loads(sys.stdin.readline()), dict[str, Any]()
    client = openai.AsyncOpenAI(
        # `Replies` answers: nothing is sent there, and nothing is tried again.
        base_url="http://kept",
        api_key="none",
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=Replies(replies, out)),
    )
    known = metrics(client, asked)
    print(json.dumps({name: version(name) for name in PACKAGES}), file=out)

    async def score(place: int, row: Mapping[str, Any], metric: str) -> bool:
        scored: dict[str, Any] = {"row": place, "metric": metric, "value": None, "problem": ""}
        requests: list[tuple[bytes, bool]] = []
        ASKED.set(requests)
        try:
            value = float((await known[metric].ascore(**inputs(metric, row))).value)
            scored |= {"value": value} if math.isfinite(value) else {"problem": "NaN"}
        except Exception as error:
            scored["problem"] = f"{type(error).__name__}: {error}"
        complete = all(has_reply for _, has_reply in requests)
        if not complete:
            # Whatever ragas made of it.
            scored |= {"value": None, "problem": "no kept reply"}
        print(json.dumps(scored), file=out)
        return complete

    left = [(n, row, metric) for n, row in enumerate(asked["rows"]) for metric in known]
    for line in sys.stdin:
        replies.update(json.loads(line))
        complete = await asyncio.gather(*(score(*each) for each in left))
        left = [each for each, done in zip(left, complete, strict=True) if not done]
        print("null", file=out)


if __name__ == "__main__":
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    out = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    asyncio.run(main(out))
