"""Requests for a Batch API, and all its answers to them."""

from __future__ import annotations

import asyncio

from bears.llm.batch import BatchApi
from bears.llm.wire import ChatRequest, Outcome


def asked(count: int) -> list[ChatRequest]:
    return [ChatRequest(f"key-{n}", "", f"text {n}", max_output_tokens=50) for n in range(count)]


def run(batch: BatchApi, requests: list[ChatRequest]) -> dict[str, Outcome]:
    async def collect() -> dict[str, Outcome]:
        return {request.key: outcome async for request, outcome in batch.answers(requests)}

    return asyncio.run(collect())
