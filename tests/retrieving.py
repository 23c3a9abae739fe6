"""What tests of retrievers share: documents, indexes, rankings, an encoder that counts letters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bears.config import compose, read_selection
from bears.retrieval.retriever import Query, Retriever, Searcher, Stopwatch
from bears.retrieval.vectors import Shard, Vectors, VectorSearcher, normalized
from bears.types import Document, Ranking
from tests.workspace import ROOT

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
NO_MODELS = "the dense models' packages are not installed: `make dense`"


def composed(group: str, *words: str) -> dict[str, Any]:
    """Return one group of the configuration, with these words in place of those selected."""
    config = compose(ROOT / "conf", read_selection(ROOT / "params.yaml"), words)
    found: dict[str, Any] = config[group]
    return found


def document(doc_id: str, text: str, group: str = "") -> Document:
    return Document(doc_id, text, "s", doc_id, False, group)


def documents(texts: Iterable[str]) -> Iterator[Document]:
    """Yield d0, d1 … by turns in the groups g0 and g1."""
    for number, text in enumerate(texts):
        yield document(f"d{number}", text, f"g{number % 2}")


def indexed(retriever: Retriever, corpus: Iterable[Document], folder: Path) -> Path:
    """Index documents, and return the folder of the index."""
    index = folder / "index"
    index.mkdir(parents=True, exist_ok=True)
    retriever.index([*corpus], index, folder / "scratch")
    return index


def opened(retriever: Retriever, corpus: Iterable[Document], folder: Path) -> Any:
    """Index documents and open the index."""
    return retriever.open(indexed(retriever, corpus, folder))


def ask(searcher: Searcher, query: Query | str, k: int = 10) -> Ranking:
    """Return the ranking of one query."""
    one = Query(query) if isinstance(query, str) else query
    [ranking] = searcher.search([one], k, Stopwatch())
    return ranking


def ids(ranking: Ranking) -> list[str]:
    return [hit.doc_id for hit in ranking]


@dataclass
class Letters:
    """Count the letters of a text, and remember the texts."""

    version: int = 1
    stop_before: str = "-"
    asked: list[str] = field(default_factory=list)

    @property
    def identity(self) -> dict[str, Any]:
        return {"letters": self.version}

    def load(self) -> None:
        pass

    def documents(self, texts: Sequence[str]) -> Vectors:
        if any(self.stop_before in text for text in texts):
            raise KeyboardInterrupt
        self.asked += texts
        return normalized(np.array([[text.count(c) for c in ALPHABET] for text in texts]))

    def questions(self, texts: Sequence[str]) -> Vectors:
        return Letters().documents(texts)


class Recorded:
    """A store that keeps the shards it is given."""

    def __init__(self) -> None:
        self.shards: list[Shard] = []

    def write(self, shards: Iterable[Shard], _: Path) -> None:
        for shard in shards:
            self.shards.append(shard)

    def open(self, folder: Path) -> VectorSearcher:
        raise NotImplementedError
