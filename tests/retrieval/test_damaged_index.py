"""An index of each family, every file of it damaged in every way: refused, or the same answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bears.errors import BearsError
from bears.files.manifest import check, seal
from bears.retrieval.combined.hybrid import Hybrid
from bears.retrieval.combined.qdrant_hybrid import QdrantHybrid
from bears.retrieval.combined.rerank import Reranked
from bears.retrieval.cut import Cut
from bears.retrieval.dense.dense import Dense
from bears.retrieval.retriever import Query, Retriever, Stopwatch
from bears.retrieval.sparse.bm25 import BM25
from bears.retrieval.stores.memory import Memory
from bears.types import Ranking
from tests.retrieving import Letters, documents, indexed
from tests.vectors import qdrant

TEXTS = [f"{one} {other}" for one in ("ape", "bear", "cat") for other in ("dog", "elk", "fox")]


class Backwards:
    """A reranker that likes what comes last."""

    def scores(self, question: str, texts: Sequence[str]) -> Any:  # noqa: ARG002
        return np.arange(len(texts), dtype=np.float32)

    def cut(self, question: str, texts: Sequence[str]) -> Cut:
        raise NotImplementedError


FAMILIES: dict[str, Callable[[], Retriever]] = {
    "bm25": lambda: BM25(0.9, 0.4),
    "memory": lambda: Dense(Letters(), Memory(), shard_size=4),
    "qdrant-local": lambda: Dense(Letters(), qdrant(), shard_size=4),
    "hybrid": lambda: Hybrid(Dense(Letters(), qdrant()), BM25(0.9, 0.4), 60, 10),
    "qdrant-hybrid": lambda: QdrantHybrid(Dense(Letters(), qdrant()), BM25(0.9, 0.4), 60, 10),
    "reranked": lambda: Reranked(BM25(0.9, 0.4), Backwards(), 5),
}


def damages(path: Path) -> Iterator[tuple[str, bytes]]:
    whole = path.read_bytes()
    yield "emptied", b""
    yield "halved", whole[: len(whole) // 2]
    yield "longer", whole + b"\n{}"
    yield "another kind", b'{"x": [1]}\n'
    for place in sorted({len(whole) * part // 12 for part in range(12)}):
        spoilt = bytearray(whole)
        spoilt[place] ^= 1 << place % 8
        yield f"bit of byte {place}", bytes(spoilt)


def answers(family: str, folder: Path) -> list[Ranking]:
    searcher = FAMILIES[family]().open(folder)
    queries = [Query("ape"), Query("elk fox"), Query("bear", "g1")]
    return searcher.search(queries, 9, Stopwatch())


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_damage_of_any_file_is_one_error_and_never_another_answer(
    family: str, tmp_path: Path
) -> None:
    folder = indexed(FAMILIES[family](), documents(TEXTS), tmp_path)
    right = answers(family, folder)
    assert any(right)
    seal([folder], {})
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    for path in files:
        whole = path.read_bytes()
        for how, content in [*damages(path), ("removed", None)]:
            path.unlink()
            if content is not None:
                path.write_bytes(content)
            where = f"{path.relative_to(folder)}: {how}"
            sealed = outcome(lambda: check(folder))
            refused = isinstance(sealed, BearsError)
            assert (refused and str(folder) in str(sealed)) or "manifest.json" in where, where
            # White space in a manifest means nothing.
            assert refused or outcome(lambda: answers(family, folder)) == right, where
            path.write_bytes(whole)
        check(folder)


def outcome(work: Callable[[], object]) -> object:
    """Return the result, or the refusal in one line."""
    try:
        return work()
    except BearsError as error:
        said = str(error).strip()
        assert said
        assert "\n" not in said
        return error
