"""The protocols of a retriever: make an index of documents, open it, search it with a stopwatch.

`RetrieveSettings` has the settings that all retrievers share.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Protocol, TypeVar, runtime_checkable

from pydantic import FiniteFloat

from bears.errors import ConfigurationError
from bears.types import Chunk, ChunkHit, Document, ForbidsExtra, Hit, Positive, Question, Ranking

H = TypeVar("H", Hit, ChunkHit)


class Stopwatch:
    """Add up seconds by stage: ``with stopwatch("encode"): …``."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        started = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + perf_counter() - started


@dataclass(frozen=True, slots=True)
class Query:
    """One search.

    Args:
        text: the question.
        group: find only documents of this `Document.group`; empty: any document.
    """

    text: str
    group: str = ""


class Searcher(Protocol):
    """An open index."""

    def search(self, queries: Sequence[Query], k: int, stopwatch: Stopwatch) -> list[Ranking]:
        """Return the best ``k`` documents for each query; fewer if fewer match at all.

        Args:
            queries: searched together they take less time and find the same.
            k: how many documents.
            stopwatch: ``with stopwatch("encode"): …`` around each stage (encode, search, fuse,
                rerank).
        """


@runtime_checkable
class Finishing(Protocol):
    """A searcher with something to say after the last question."""

    def finish(self) -> dict[str, Any]:
        """Return plain values for the timing file. Raises BearsError if the run is of no use."""


@runtime_checkable
class Cutting(Protocol):
    """A searcher that cuts documents itself.

    Attributes:
        places: the chunk of each name that a search returned.
    """

    places: Mapping[str, Chunk]


class Retriever(Protocol):
    """Makes an index of documents and opens it again. The constructor only takes settings."""

    def index(self, documents: Iterable[Document], folder: Path, scratch: Path) -> None:
        """Write the index of ``documents`` into an empty folder.

        Args:
            documents: in order; may be more than memory holds, and can be read several times. No
                two have one id. They may be chunks (`IndexedChunk`), which are ranked as documents
                are.
            folder: holds the index, or what is needed to find it again.
            scratch: outlives a killed run and is out of DVC's reach, so that the next run can
                resume from what is there.
        """

    def open(self, folder: Path) -> Searcher:
        """Open an index that `index` wrote."""


def searcher_of(retriever: Retriever, documents: Iterable[Document]) -> Searcher:
    """Return a searcher of documents, whose index is not kept."""
    # Files that are mapped into memory can lose their names.
    with TemporaryDirectory(prefix="bears-") as folder:
        retriever.index(documents, Path(folder), Path(folder))
        return retriever.open(Path(folder))


@dataclass(frozen=True)
class RetrieveSettings(ForbidsExtra):
    """How the index is searched.

    Args:
        depth: documents per question.
        score_threshold: leave out documents of a lower score, so that a question may get
            no document; null: keep all.
        ignore_identical_ids: leave out the document under the question's own id, as BEIR's
            evaluation and Anserini's ``-removeQuery`` do: the questions of ArguAna and Quora are
            documents themselves, so their best match would be that document.
    """

    depth: Positive
    score_threshold: FiniteFloat | None
    ignore_identical_ids: bool

    def check(self, questions: Iterable[Question]) -> None:
        """Raise ConfigurationError if ignoring identical ids would leave out gold."""
        for question in questions:
            if any(self.ignores(question.question_id, gold) for gold in question.gold_doc_ids):
                raise ConfigurationError(
                    f"retrieve.ignore_identical_ids is true, but the question "
                    f"{question.question_id!r} has the document of that id as its gold: here the "
                    "same id does not mean the same text. Add retrieve.ignore_identical_ids=false "
                    "to the overrides"
                )

    def ignores(self, question_id: str, doc_id: str) -> bool:
        """Return whether a document, and each chunk of it, is left out of a question's ranking."""
        return self.ignore_identical_ids and question_id == doc_id

    def kept(self, question_id: str, ranking: Sequence[H]) -> tuple[H, ...]:
        """Return the hits that count for a question."""
        lowest = self.score_threshold
        return tuple(
            hit
            for hit in ranking
            if (lowest is None or hit.score >= lowest) and not self.ignores(question_id, hit.doc_id)
        )
