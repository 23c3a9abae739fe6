"""Compare ours with a pool of 20 threads that retry after 2**n seconds.

    python -m benchmarks.throughput [requests] [latency] [concurrency] [share of 429s]

Both ask the same loopback server, one after the other, in one run.
"""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import openai

from bears.llm.client import Online
from bears.llm.models import Endpoint, Models
from bears.llm.wire import ChatAnswer, ChatRequest
from tests.provider_server import ProviderServer

SYSTEM = "Translate into Traditional Chinese as written in Taiwan. " * 5
USER = "The Normans were the people who gave their name to Normandy. " * 15
THREADS = 20


def ours(url: str, requests: int, concurrency: int) -> int:
    """Ask with `Online`; returns how many were answered."""

    async def collect() -> int:
        online = Online(Endpoint("m", url, "", concurrency=concurrency), Models())
        asked = (ChatRequest(str(n), SYSTEM, USER) for n in range(requests))
        return sum([isinstance(answer, ChatAnswer) async for _, answer in online.answers(asked)])

    return asyncio.run(collect())


def threads(url: str, requests: int, _: int) -> int:
    """Ask with a pool of threads and the synchronous client."""
    client = openai.OpenAI(api_key="none", base_url=url, max_retries=0)

    def one(_: int) -> bool:
        for attempt in range(5):
            try:
                client.chat.completions.create(
                    model="m",
                    messages=[
                        {"role": "system", "content": SYSTEM},
                        {"role": "user", "content": USER},
                    ],
                )
                return True
            except openai.APIError:
                time.sleep(2**attempt)
        return False

    with ThreadPoolExecutor(THREADS) as pool:
        return sum(pool.map(one, range(requests)))


def measure(
    way: Callable[[str, int, int], int], requests: int, latency: float, places: int, faults: float
) -> float:
    """Print and return the wall time of one way."""
    with ProviderServer(latency=latency, chances={"limited": faults}, limited_s=0.2) as server:
        wall, cpu = time.perf_counter(), time.process_time()
        answered = way(server.url, requests, places)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{way.__name__:8} {answered}/{requests} answered, wall {wall:.2f} s, CPU {cpu:.2f} s")
    return wall


def main(arguments: list[str]) -> None:
    """Measure both and print the ratio."""
    numbers = [float(argument) for argument in arguments]
    requests, latency, places, faults = [*numbers, *[2000.0, 0.2, 64.0, 0.0][len(numbers) :]]
    best = math.ceil(requests / places) * latency
    print(f"N={requests:.0f}, L={latency} s, C={places:.0f}, 429: {faults:.0%}; best {best:.2f} s")
    fast = measure(ours, int(requests), latency, int(places), faults)
    slow = measure(threads, int(requests), latency, int(places), faults)
    print(f"ours takes {fast / best:.3f} of the best, the threads {slow / fast:.1f} times ours")


if __name__ == "__main__":
    main(sys.argv[1:])
