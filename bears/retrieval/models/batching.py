"""Batches of about as many tokens each, of texts of about the same length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

from bears.retrieval.models.device import required
from bears.retrieval.models.loading import Loaded

CPU_TOKENS, GPU_TOKENS = 1_536, 65_536
"""Of one batch: on a CPU what stays in its caches, on a GPU what keeps it busy."""
PATIENCE = 3.0
"""Seconds before a bar is shown: a question needs none."""

Columns = Mapping[str, Sequence[Sequence[int]]]
"""What a tokenizer gives, without padding: ``input_ids`` and, of some models, token types."""


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Positions of the texts of each batch, the longest texts first.

    A batch, padded to its longest text, has at most ``tokens`` tokens, or one text.
    """
    order = sorted(range(len(lengths)), key=lambda position: -lengths[position])
    start = 0
    while start < len(order):
        size = max(1, tokens // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size


def run(loaded: Loaded, columns: Columns, compute: Callable[..., Any]) -> Any:
    """Apply a model to every row.

    Args:
        loaded: the model.
        columns: the tokens.
        compute: takes tensors by the columns' names and ``attention_mask``, which is None where
            no row is padded; gives one row for each, shape (batch, …).

    Returns:
        A float32 tensor on the CPU, its rows in the order of ``columns``.
    """
    torch = required("torch")
    lengths = [len(row) for row in columns["input_ids"]]
    device, pad = loaded.device, loaded.tokenizer.pad_token_id or 0
    usual = CPU_TOKENS if device.type == "cpu" else GPU_TOKENS
    cut = list(batches(lengths, loaded.batch_tokens or usual))

    def one(rows: list[int]) -> Any:
        inputs = {
            name: _tensor([column[row] for row in rows], pad if name == "input_ids" else 0)
            for name, column in columns.items()
        }
        mask = _mask([lengths[row] for row in rows])
        moved = {name: tensor.to(device) for name, tensor in inputs.items()}
        with torch.inference_mode():
            moved["attention_mask"] = None if mask is None else mask.to(device)
            return compute(**moved).float()

    parts = []
    with _bar(len(lengths)) as bar, _each(device, len(cut)) as each:
        for rows, part in zip(cut, each(one, cut), strict=True):
            parts.append(part)
            bar.update(len(rows))
    back = torch.empty(len(lengths), dtype=torch.long)
    back[[row for rows in cut for row in rows]] = torch.arange(len(lengths))
    return torch.cat(parts).cpu()[back]


def _bar(texts: int) -> Any:
    return tqdm(
        total=texts, unit=" texts", desc="encode", leave=False, delay=PATIENCE, disable=None
    )


@contextmanager
def _each(device: Any, number: int) -> Iterator[Callable[..., Any]]:
    """A `map`. On a CPU each thread takes whole batches, so that none waits for another."""
    torch = required("torch")
    threads = torch.get_num_threads()
    if device.type != "cpu" or min(number, threads) < 2:
        yield map
        return
    # This sets the number for the thread that calls it, and for threads that begin later.
    pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))
    try:
        with pool:
            yield pool.map
    finally:
        torch.set_num_threads(threads)


def _tensor(rows: Sequence[Sequence[int]], fill: int) -> Any:
    torch = required("torch")
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])


def _mask(lengths: Sequence[int]) -> Any:
    """Ones and zeros, shape (rows, longest); None where they would all be ones."""
    torch = required("torch")
    if min(lengths) == max(lengths):
        return None
    return (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()
