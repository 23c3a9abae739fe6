"""What one system did for one question. Every reader and writer of systems uses this record."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

from pydantic import Field

from bears.types import ChunkHit, ChunkRanking, ChunkRun, FiledChunk, chunks_in_order

Text = Annotated[str, Field(max_length=100_000)]
Chunks = Annotated[tuple[FiledChunk, ...], Field(max_length=10_000)]


@dataclass(frozen=True, slots=True)
class Search:
    """One search.

    Args:
        query: what was searched; empty if that is not known.
        passages: unique, best first.
        seconds: None if it was not measured.
    """

    query: str
    passages: tuple[ChunkHit, ...]
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request to a model; what is not known is None.

    Args:
        input_tokens, output_tokens: as the model's server counts them.
        usd: what it cost.
    """

    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation in an answer.

    Args:
        end: the number of the answer's characters before it.
        chunk: what is cited.
    """

    end: int
    chunk: FiledChunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What one system did for one question.

    A retriever's trace has one search and no answer.

    Args:
        searches: in their order; None: it is not known what was searched.
        calls: of models.
        answer: without markers of citations; None: the system gave none.
        evidence: the chunks that the answer cites; None: the system cites none.
        shown: the chunks that the model read, in their order; None: not known.
        cut: those of them that were shortened.
        left_out: chunks that were found, and for which there was no room.
        citations: where the answer cites what, in its order; None: not known.
        refused: whether the system says that it cannot answer; None: it does not say.
        cited_not_given: how many other citations there are, of nothing that was shown.
        given_up: why the model refused the question.
        error: what failed.
        confidence: that the answer is right, from 0 to 1, as the system says.
        tool_calls: of all tools, searches included; None: not known.
        asked: when, in UTC.
        seconds: that all of it took.
    """

    question_id: str
    searches: tuple[Search, ...] | None = None
    calls: tuple[ModelCall, ...] = ()
    answer: Text | None = None
    evidence: Chunks | None = None
    shown: Chunks | None = None
    cut: Chunks = ()
    left_out: Chunks = ()
    citations: Annotated[tuple[Citation, ...], Field(max_length=10_000)] | None = None
    refused: bool | None = None
    cited_not_given: int = 0
    given_up: str = ""
    error: str = ""
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    tool_calls: int | None = None
    asked: str = ""
    seconds: float | None = None

    @property
    def ranking(self) -> ChunkRanking:
        """Return the passages in the order in which they were first seen."""
        searches = self.searches or ()
        if len(searches) == 1:
            return searches[0].passages
        return chunks_in_order(hit.chunk for search in searches for hit in search.passages)

    @property
    def retrieved(self) -> frozenset[str] | None:
        """Return the documents that were found; None if no search is known."""
        if not self.searches:
            return None
        return frozenset(hit.doc_id for search in self.searches for hit in search.passages)


def searched_once(
    run: ChunkRun, seconds: Mapping[str, float] = MappingProxyType({})
) -> dict[str, Trace]:
    """Return a retriever's rankings as traces with one search each.

    Args:
        seconds: that searching took, of the questions that were timed.
    """
    return {
        key: Trace(
            question_id=key,
            searches=(Search("", ranking, seconds.get(key)),),
            seconds=seconds.get(key),
        )
        for key, ranking in run.items()
    }
