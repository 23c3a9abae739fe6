"""The program for the environment of `make ragas`: JSON from standard input to standard output.

It reads {base_url, key, model, embedding_model, concurrency, rows}. It prints the versions of the
packages, then a line for each metric of each row when it is done: {row, metric, value, problem}.
Other output of the packages goes to standard error. It imports nothing from bears.
"""

import asyncio
import json
import math
import os
import sys
from collections import Counter
from contextvars import ContextVar
from importlib.metadata import version
from typing import Any

SAMPLE = "X-Sample"
PACKAGES = ("ragas", "instructor", "openai")
SEEN: ContextVar[Counter[bytes]] = ContextVar("SEEN")
"""The requests of one metric of one row. A repeated request asks for a second sample."""


async def numbered(request: Any) -> None:
    """Number the samples of a request, so that each can be kept and replayed."""
    seen = SEEN.get()
    request.headers[SAMPLE] = str(seen[request.content])
    seen[request.content] += 1


def metrics(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the metrics by name; all their requests go to one address."""
    import openai
    from ragas.embeddings import OpenAIEmbeddings
    from ragas.llms import llm_factory
    from ragas.metrics import collections

    client = openai.AsyncOpenAI(
        base_url=asked["base_url"],
        api_key=asked["key"],
        # The server handles retries and timeouts.
        max_retries=0,
        timeout=None,
        http_client=openai.DefaultAsyncHttpxClient(
            event_hooks={"request": [numbered]}, trust_env=False
        ),
    )
    llm = llm_factory(asked["model"], client=client)
    vectors = OpenAIEmbeddings(client, asked["embedding_model"])
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
    known = metrics(asked)
    places = asyncio.Semaphore(asked["concurrency"])
    print(json.dumps({name: version(name) for name in PACKAGES}), file=out, flush=True)

    async def score(place: int, row: dict[str, Any], metric: str) -> None:
        scored: dict[str, Any] = {"row": place, "metric": metric, "value": None, "problem": ""}
        async with places:
            SEEN.set(Counter())
            try:
                value = float((await known[metric].ascore(**inputs(metric, row))).value)
                scored |= {"value": value} if math.isfinite(value) else {"problem": "NaN"}
            except Exception as error:
                scored["problem"] = f"{type(error).__name__}: {error}"
        print(json.dumps(scored), file=out, flush=True)

    rows = enumerate(asked["rows"])
    await asyncio.gather(*(score(n, row, metric) for n, row in rows for metric in known))


if __name__ == "__main__":
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    asyncio.run(main(json.load(sys.stdin), out))
