"""Exact BM25 scores, by adding up every posting of a question's terms."""

import numpy as np
from numpy.typing import NDArray

from bears.retrieval.sparse.postings import Postings
from bears.retrieval.sparse.vocabulary import changes

Numbers = NDArray[np.int64]
Chunks = NDArray[np.int32]
Scores = NDArray[np.float64]


class BM25Scores:
    """BM25 over postings.

    Args:
        index: the postings.
        idf: of each term.
        norms: what is added to a term's count in the denominator, of each chunk.
    """

    def __init__(self, index: Postings, idf: Scores, norms: Scores) -> None:
        self._index, self._idf, self._norms = index, idf, norms

    def of(
        self, terms: Numbers, counts: Scores, allowed: NDArray[np.bool_] | None = None
    ) -> tuple[Chunks, Scores]:
        """Every chunk that holds a term, ascending, with its score.

        Args:
            terms: numbers of distinct terms.
            counts: how often each is asked for.
            allowed: of each chunk, whether it may be found; None: every one.
        """
        weights = counts * self._idf[terms]
        # Sums of floats depend on their order, and a ranking on the sums.
        order = (-weights).argsort(kind="stable")
        terms, weights = terms[order], weights[order]
        index = self._index
        starts, ends = index.starts[terms], index.starts[terms + 1]
        own = list(map(slice, starts.tolist(), ends.tolist()))
        chunks = np.concatenate([index.chunks[one] for one in own] or [index.chunks[:0]])
        found = np.concatenate([index.counts[one] for one in own] or [index.counts[:0]])
        values = self._norms.take(chunks)
        values += found
        np.divide(found, values, out=values)
        values *= weights.repeat(ends - starts)
        if allowed is not None:
            keep = allowed[chunks]
            chunks, values = chunks[keep], values[keep]
        return _summed(chunks, values, len(self._norms))


def _summed(chunks: Chunks, values: Scores, n: int) -> tuple[Chunks, Scores]:
    """Each chunk once, ascending, with the sum of its values in the order in which they come."""
    if len(chunks) > n / 16:
        scores = np.bincount(chunks, values, n).astype(np.float64, copy=False)
        # Comparing first is several times faster than looking for what is not 0 among floats.
        (held,) = (scores != 0).nonzero()
        return held.astype(np.int32), scores.take(held)
    order = np.argsort(chunks, kind="stable")
    chunks = chunks.take(order)
    first = changes(chunks)
    summed = np.bincount(np.cumsum(first) - 1, values.take(order))
    return chunks[first], summed.astype(np.float64, copy=False)
