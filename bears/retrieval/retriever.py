"""What a retriever is and what it is asked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bears.retrieval.stopwatch import Stopwatch
from bears.types import Document, Ranking


@dataclass(frozen=True, slots=True)
class Query:
    """What an index is asked.

    Args:
        text: the question.
        group: only documents of this `Document.group` may be found; empty: any document.
    """

    text: str
    group: str = ""


class Searcher(Protocol):
    """An index that was opened."""

    def search(self, queries: Sequence[Query], k: int, stopwatch: Stopwatch) -> list[Ranking]:
        """For each query its best ``k`` documents; fewer where fewer match at all.

        Args:
            queries: what to look for; asked together they take less time, and find the same.
            k: how many documents, not chunks.
            stopwatch: ``with stopwatch("encode"): …`` around each stage (encode, search, fuse,
                rerank).
        """


class Retriever(Protocol):
    """Makes an index of documents, and opens it again. The constructor takes its settings only."""

    def index(self, documents: Iterable[Document], folder: Path, scratch: Path) -> None:
        """Write the index of ``documents`` into an empty folder.

        Args:
            documents: read once, in order; may be more than memory holds. Chunks of one document
                follow one another under its id; its score is that of its best chunk (MaxP).
            folder: where the index lies, or what is needed to find it again.
            scratch: outlives a killed run and is outside of DVC's reach; what is there may be
                resumed from.
        """

    def open(self, folder: Path) -> Searcher:
        """Read an index that `index` wrote."""
