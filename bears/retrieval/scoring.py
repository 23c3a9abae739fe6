"""Exact BM25 scores of the best pieces, without adding up every posting.

Terms are taken from the rarest to the most frequent. Once the k-th best score so far is more than
all the terms that are left could add, no new piece can be among the best, and the long lists of
frequent terms are only looked up for the pieces that still can (MaxScore: Turtle and Flood 1995).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.retrieval.postings import Postings
from bears.retrieval.retriever import kth_best
from bears.retrieval.vocabulary import changes

Numbers = NDArray[np.int64]
Pieces = NDArray[np.int32]
Scores = NDArray[np.float64]

SLACK = 1 - 2.0**-18
"""Scores this close to one another may be equal once `best` has rounded them."""
WORTH = 4
"""How many times longer than what was added up a list must be for looking at the order first."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Terms of a question: the one that can add most comes first.

    Args:
        terms: their numbers.
        weights: what a term adds at the most: times asked for, times inverse frequency.
        rest: what this term and all after it add at the most.
    """

    terms: Numbers
    weights: Scores
    rest: Scores


class Scoring:
    """BM25 over postings.

    Args:
        index: the postings.
        idf: of each term.
        norms: what is added to a term's count in the denominator, of each piece.
    """

    def __init__(self, index: Postings, idf: Scores, norms: Scores) -> None:
        self._index, self._idf, self._norms = index, idf, norms
        self._sizes = np.diff(index.starts)

    def candidates(
        self, terms: Numbers, counts: Scores, k: int, allowed: NDArray[np.bool_] | None = None
    ) -> tuple[Pieces, Scores, bool]:
        """Pieces with their scores, the ``k`` best and all that tie with them among them.

        Args:
            terms: numbers of distinct terms.
            counts: how often each is asked for.
            k: how many pieces at the least, where so many hold any of the terms.
            allowed: of each piece, whether it may be found; None: every one.

        Returns:
            Pieces, scores, and whether every piece that holds a term is there.
        """
        asked = self._ordered(terms, counts)
        pieces, scores = np.zeros(0, np.int32), np.zeros(0)
        done, held = 0, 0
        for i, size in enumerate(self._sizes[asked.terms].tolist()):
            if held >= k and size > WORTH * held:
                pieces, scores = self._added(pieces, scores, asked, slice(done, i), allowed)
                done, held = i, len(pieces)
                if held >= k and kth_best(scores, k) * SLACK > asked.rest[i]:
                    return *self._completed(pieces, scores, asked, i, k), False
            held += size
        everything = slice(done, len(asked.terms))
        return *self._added(pieces, scores, asked, everything, allowed), True

    def _ordered(self, terms: Numbers, counts: Scores) -> Asked:
        # The part of the score that depends on the piece is below 1.
        weights = counts * self._idf[terms]
        order = (-weights).argsort(kind="stable")
        weights = weights[order]
        return Asked(terms[order], weights, weights[::-1].cumsum()[::-1])

    def _added(
        self,
        pieces: Pieces,
        scores: Scores,
        asked: Asked,
        which: slice,
        allowed: NDArray[np.bool_] | None,
    ) -> tuple[Pieces, Scores]:
        """Scores with those of some more terms, for every piece that holds any; ascending."""
        index, terms = self._index, asked.terms[which]
        starts, ends = index.starts[terms].tolist(), index.starts[terms + 1].tolist()
        own = list(map(slice, starts, ends))
        new = np.concatenate([index.pieces[one] for one in own] or [pieces[:0]])
        counts = np.concatenate([index.counts[one] for one in own] or [pieces[:0]])
        weights = asked.weights[which].repeat(self._sizes[terms])
        values = self._values(new, counts, weights)
        if allowed is not None:
            keep = allowed[new]
            new, values = new[keep], values[keep]
        if len(pieces):
            new, values = np.concatenate([pieces, new]), np.concatenate([scores, values])
        return _summed(new, values, len(self._norms))

    def _completed(
        self, pieces: Pieces, scores: Scores, asked: Asked, first: int, k: int
    ) -> tuple[Pieces, Scores]:
        """The scores of what can still be among the best ``k``, with the terms from ``first``."""
        index = self._index
        for term, weight, rest in zip(
            asked.terms[first:].tolist(), asked.weights[first:], asked.rest[first:], strict=True
        ):
            keep = scores + rest >= kth_best(scores, k) * SLACK
            pieces, scores = pieces[keep], scores[keep]
            own = slice(index.starts[term], index.starts[term + 1])
            places = np.searchsorted(index.pieces[own], pieces)
            places[places == self._sizes[term]] = 0
            holds = np.flatnonzero(index.pieces[own][places] == pieces)
            counts = index.counts[own][places[holds]]
            scores[holds] += self._values(pieces[holds], counts, weight)
        return pieces, scores

    def _values(
        self, pieces: Pieces, counts: NDArray[np.unsignedinteger[Any]], weights: Scores | float
    ) -> Scores:
        values = self._norms.take(pieces)
        values += counts
        np.divide(counts, values, out=values)
        values *= weights
        return values


def _summed(pieces: Pieces, values: Scores, n: int) -> tuple[Pieces, Scores]:
    """Each piece once, ascending, with the sum of its values in the order in which they come."""
    if len(pieces) > n / 16:
        scores = np.bincount(pieces, values, n).astype(np.float64, copy=False)
        # Comparing first is several times faster than looking for what is not 0 among floats.
        (held,) = (scores != 0).nonzero()
        return held.astype(np.int32), scores.take(held)
    order = np.argsort(pieces, kind="stable")
    pieces = pieces.take(order)
    first = changes(pieces)
    summed = np.bincount(np.cumsum(first) - 1, values.take(order))
    return pieces[first], summed.astype(np.float64, copy=False)
