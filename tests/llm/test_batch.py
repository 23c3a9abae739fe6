"""The Batch API against a loopback provider: half price, restarts, expiry."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bears.errors import ConfigurationError
from bears.llm.batch import BatchApi, Pending, outcomes, read_pending, write_pending
from bears.llm.budget import Budget
from bears.llm.endpoint import Access, Endpoint
from bears.llm.faults import BudgetExhausted, RequestFailed, RequestRefused, RunStopped
from bears.llm.models import Models, Price
from bears.llm.wire import ChatAnswer, ChatRequest, Outcome
from tests.provider_server import ProviderServer


def asked(count: int) -> list[ChatRequest]:
    return [ChatRequest(f"key-{n}", "", f"text {n}", max_output_tokens=50) for n in range(count)]


def run(batch: BatchApi, requests: list[ChatRequest]) -> dict[str, Outcome]:
    async def collect() -> dict[str, Outcome]:
        return {request.key: outcome async for request, outcome in batch.answers(requests)}

    return asyncio.run(collect())


def made(server: ProviderServer, path: Path, **more: Any) -> BatchApi:
    endpoint = Endpoint("m", server.url, "", attempts=3, backoff_s=0.01, timeout_s=5)
    return BatchApi(endpoint, Models(), path / "state.jsonl", poll_s=0.01, **more)


def test_all_requests_are_answered_within_the_providers_limits_and_no_batch_stays_open(
    tmp_path: Path,
) -> None:
    with ProviderServer() as server:
        answers = run(made(server, tmp_path, most_requests=4), asked(10))
        assert server.stats()["batches"] == 3
        assert {key: getattr(a, "text", a) for key, a in answers.items()} == {
            f"key-{n}": f"[text {n}]" for n in range(10)
        }
        assert read_pending(tmp_path / "state.jsonl") == []
        server.reset()
        run(made(server, tmp_path, most_bytes=400), asked(6))
        assert server.stats()["files"] == 3


@pytest.mark.parametrize("end", ["expired", "cancelled", "failed"])
def test_the_finished_part_of_a_broken_batch_is_kept_and_the_rest_is_resubmitted(
    tmp_path: Path, end: str
) -> None:
    with ProviderServer(batch_end=end, batch_done=0.5, batch_ends=1) as server:
        answers = run(made(server, tmp_path), asked(10))
        stats = server.stats()
    assert all(isinstance(answer, ChatAnswer) for answer in answers.values())
    assert stats["batches"] == 2
    assert stats["batch requests"] == 10


def test_resubmission_is_limited(tmp_path: Path) -> None:
    with ProviderServer(batch_end="expired", batch_done=0) as server:
        answers = run(made(server, tmp_path), asked(2))
        assert server.stats()["batches"] == 3
    assert all(isinstance(answer, RequestFailed) for answer in answers.values())


def test_a_refused_line_is_not_submitted_again(tmp_path: Path) -> None:
    with ProviderServer(content={"text 1": "bad_request", "text 2": "server_error"}) as server:
        answers = run(made(server, tmp_path), asked(3))
    assert [*map(type, answers.values())] == [ChatAnswer, RequestRefused, RequestFailed]


def test_a_key_that_a_line_repeats_is_not_shown() -> None:
    problem = {"message": "no such key: sk-secret"}
    response = {"status_code": 400, "body": {"error": problem}}
    lines: list[dict[str, Any]] = [{"response": response}, {"response": None, "error": problem}]
    content = b"".join(json.dumps({"custom_id": "0", **line}).encode() + b"\n" for line in lines)
    (request,) = asked(1)
    found = outcomes(
        content, [request.key], {request.key: request}, Access("http://x", "sk-secret")
    )
    for _, outcome in found:
        assert "no such key: [key]" in str(outcome)


def test_a_batch_whose_lines_are_all_refused_stops_the_run_and_the_next_one_resubmits_it(
    tmp_path: Path,
) -> None:
    got: dict[str, Outcome] = {}

    async def collect(batch: BatchApi) -> None:
        async for request, outcome in batch.answers(asked(30)):
            got[request.key] = outcome

    with ProviderServer(content={"text": "bad_request"}) as server:
        batch = made(server, tmp_path, most_requests=10)
        with pytest.raises(RunStopped, match=r"10 requests in a row failed alike.*status 400"):
            asyncio.run(collect(batch))
        # The requests are not to blame, so they do not count as refused.
        assert [type(outcome) for outcome in got.values()] == 10 * [RequestFailed]
        assert len(read_pending(tmp_path / "state.jsonl")) == 2
        server.change(content={})
        asyncio.run(collect(made(server, tmp_path)))
        assert server.stats()["batch requests"] == 40
    assert [type(outcome) for outcome in got.values()] == 30 * [ChatAnswer]


def test_the_budget_pays_half_the_price(tmp_path: Path) -> None:
    with ProviderServer() as server:
        budget = Budget(None, Price(100, 100).in_batches())
        answers = run(made(server, tmp_path, budget=budget), asked(5))
    good = [answer for answer in answers.values() if isinstance(answer, ChatAnswer)]
    tokens = sum(answer.input_tokens + answer.output_tokens for answer in good)
    assert budget.spent == pytest.approx(tokens * 100 / 1e6 / 2)
    assert budget.reserved == 0


def test_requests_that_do_not_fit_the_budget_are_reported(tmp_path: Path) -> None:
    budget = Budget(0.01, Price(10, 100))
    with ProviderServer() as server:
        answers = run(made(server, tmp_path, budget=budget), asked(50))
    assert budget.spent <= 0.01
    assert {type(answer) for answer in answers.values()} == {ChatAnswer, BudgetExhausted}
    assert len(answers) == 50


def test_a_batch_whose_id_was_not_written_is_found_by_its_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.jsonl"
    written: list[list[Pending]] = []

    def write(path: Path, pending: Iterable[Pending]) -> None:
        written.append([replace(batch) for batch in pending])
        write_pending(path, written[-1])

    monkeypatch.setattr("bears.llm.batch.write_pending", write)
    with ProviderServer() as server:
        run(made(server, tmp_path), asked(4))
        named = [[bool(batch.id) for batch in each] for each in written]
        assert named == [[], [False], [True], []]
        # As after a crash between creating the batch and writing its id.
        write_pending(path, written[1])
        answers = run(made(server, tmp_path), asked(4))
        assert server.stats()["batches"] == 1
    assert all(isinstance(answer, ChatAnswer) for answer in answers.values())
    assert read_pending(path) == []


def test_batches_of_other_requests_are_left_alone(tmp_path: Path) -> None:
    """Another benchmark or use has paid for them."""
    path = tmp_path / "state.jsonl"
    with ProviderServer() as server:
        run(made(server, tmp_path), asked(2))
        others = [Pending("theirs", ("key-8", "key-9"), "batch-9"), Pending("new", ("key-7",))]
        write_pending(path, others)
        answers = run(made(server, tmp_path), asked(2))
        assert server.stats()["batches"] == 2
    assert all(isinstance(answer, ChatAnswer) for answer in answers.values())
    assert read_pending(path) == others


def test_a_damaged_state_file_stops_before_anything_is_paid_twice(tmp_path: Path) -> None:
    path = tmp_path / "state.jsonl"
    path.write_text("not json\n")
    with (
        ProviderServer() as server,
        pytest.raises(ConfigurationError, match=r"line 1.*there may be batches"),
    ):
        run(made(server, tmp_path), asked(1))
