"""Asking a model through the provider's Batch API: half the price, within a day, restartable.

A process killed between making a batch and writing its id finds it again by its mark, which the
provider keeps in the batch's metadata; see `bears.client.batch_state`.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from pathlib import Path

from openai.types import Batch as ProviderBatch

from bears.client.batch_files import Missing, Part, outcomes, parts
from bears.client.batch_provider import Provider, make_client
from bears.client.batch_state import Pending, State
from bears.client.budget import Budget
from bears.client.endpoint import Endpoint, find_access
from bears.client.errors import RequestFailed
from bears.client.limits import Clock
from bears.client.models import Models, Price
from bears.client.run import Outcome
from bears.client.wire import ChatRequest

MOST_REQUESTS = 50_000
MOST_BYTES = 200_000_000
ENDED = ("completed", "failed", "expired", "cancelled")


class Batch:
    """A model that answers within a day.

    Args:
        endpoint: where it is; ``attempts`` bounds how often a request is submitted.
        models: what the models accept and cost.
        state: the state file; one for each provider and account.
        budget: what may be spent, at the price of batches; None: no cap.
        env_folder: the folder of ``.env``.
        clock: the time, for tests.
        poll_s: the first wait between two looks at a batch; it grows to ``longest_poll_s``.
        most_requests, most_bytes: the provider's limits of one file.

    Raises:
        ConfigurationError: there is no key.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        models: Models,
        state: Path,
        budget: Budget | None = None,
        env_folder: Path | None = None,
        clock: Clock | None = None,
        poll_s: float = 10.0,
        longest_poll_s: float = 300.0,
        most_requests: int = MOST_REQUESTS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.endpoint = endpoint
        self.budget = budget or Budget(None, Price(0, 0))
        self._model = endpoint.accepts(models)
        self._access = find_access(endpoint, env_folder)
        self._state = State(state)
        self._clock = clock or Clock()
        self._polls = (poll_s, longest_poll_s)
        self._most = (most_requests, most_bytes)

    async def answers(
        self, requests: Iterable[ChatRequest]
    ) -> AsyncIterator[tuple[ChatRequest, Outcome]]:
        """Yield each request with its answer, or why it has none, batch by batch.

        Requests that are in a batch already (of a run that was killed) are not submitted again.
        All of ``requests`` is taken at once; what does not fit the budget yields BudgetExhausted.

        Raises:
            RunStopped: the provider takes no batches from us.
        """
        asked = {request.key: request for request in requests}
        rounds = dict.fromkeys(asked, 0)
        held: dict[str, float] = {}
        async with make_client(self._access, self.endpoint) as client:
            provider = Provider(client, self._access, self.endpoint, self._clock)
            pending = await self._found(provider)
            waiting = {key for batch in pending for key in batch.keys} & asked.keys()
            for key in waiting:
                held[key] = self.budget.bound(asked[key])
                self.budget.hold(held[key])
            fresh = [request for key, request in asked.items() if key not in waiting]
            while pending or fresh:
                fitting, unfit = self._fitting(fresh, held)
                pending += [await self._submit(provider, part) for part in self._parts(fitting)]
                for request in fitting:
                    rounds[request.key] += 1
                if not pending:
                    for request in unfit:
                        yield request, self.budget.exhausted(self.budget.bound(request))
                    return
                ended = await self._next_ended(provider, pending)
                results = await self._results(provider, ended, asked)
                again = []
                for key in dict.fromkeys(ended[0].keys):
                    if key not in asked or key not in held:
                        continue
                    outcome = results.get(key)
                    await self._settle(held.pop(key), outcome)
                    if isinstance(outcome, Missing) and rounds[key] < self.endpoint.attempts:
                        again.append(asked[key])
                    else:
                        yield asked[key], _final(outcome)
                self._state.write("closed", ended[0].mark)
                pending.remove(ended[0])
                fresh = again + unfit

    def _fitting(
        self, requests: list[ChatRequest], held: dict[str, float]
    ) -> tuple[list[ChatRequest], list[ChatRequest]]:
        """Those that the budget has room for, now reserved, and the others."""
        fitting, unfit = [], []
        for request in requests:
            amount = self.budget.bound(request)
            if self.budget.fits(amount):
                self.budget.hold(amount)
                held[request.key] = amount
                fitting.append(request)
            else:
                unfit.append(request)
        return fitting, unfit

    async def _submit(self, provider: Provider, part: Part) -> Pending:
        batch = Pending(uuid.uuid4().hex, tuple(key for key, _ in part))
        file = await provider.upload(b"".join(line for _, line in part))
        self._state.write("intent", batch.mark, keys=batch.keys)
        batch.id = await provider.create(file, batch.mark)
        self._state.write("created", batch.mark, id=batch.id)
        return batch

    async def _found(self, provider: Provider) -> list[Pending]:
        """The batches of earlier runs; those that never reached the provider are dropped."""
        pending = self._state.pending()
        for batch in [batch for batch in pending if not batch.id]:
            batch.id = await provider.find(batch.mark)
            if batch.id:
                self._state.write("created", batch.mark, id=batch.id)
            else:
                self._state.write("closed", batch.mark)
        return [batch for batch in pending if batch.id]

    async def _next_ended(
        self, provider: Provider, pending: list[Pending]
    ) -> tuple[Pending, ProviderBatch | None]:
        """Look at the batches, less and less often, until one has ended."""
        pause, longest = self._polls
        while True:
            for batch in pending:
                seen = await provider.retrieve(batch.id)
                if seen is None or seen.status in ENDED:
                    return batch, seen
            await self._clock.sleep(pause)
            pause = min(longest, pause * 1.5)

    def _parts(self, requests: Iterable[ChatRequest]) -> Iterator[Part]:
        return parts(requests, self.endpoint.model, self._model, *self._most)

    async def _results(
        self,
        provider: Provider,
        ended: tuple[Pending, ProviderBatch | None],
        asked: Mapping[str, ChatRequest],
    ) -> dict[str, Outcome | Missing]:
        batch, seen = ended
        if seen is None:
            return dict.fromkeys(batch.keys, Missing("the provider no longer knows the batch"))
        reason = Missing(self._access.clean(f"the batch {seen.status}{_told(seen)}"))
        results: dict[str, Outcome | Missing] = dict.fromkeys(batch.keys, reason)
        for file in (seen.error_file_id, seen.output_file_id):
            if file:
                content = await provider.download(file)
                results.update(outcomes(content, batch.keys, asked, self._access))
        return results

    async def _settle(self, amount: float, outcome: Outcome | Missing | None) -> None:
        if isinstance(outcome, Exception | Missing) or outcome is None:
            await self.budget.release(amount)
        else:
            await self.budget.settle(amount, outcome.input_tokens, outcome.output_tokens)


def _final(outcome: Outcome | Missing | None) -> Outcome:
    if outcome is None or isinstance(outcome, Missing):
        reason = outcome.reason if outcome else "no line in the batch's files"
        return RequestFailed(f"not answered in any batch: {reason}")
    return outcome


def _told(seen: ProviderBatch) -> str:
    errors = (seen.errors.data or []) if seen.errors else []
    return "".join(f"; {error.code}: {error.message}" for error in errors[:3])
