"""Questions that belong together: of one article, paper or file, they are alike.

Every interval and test of several questions goes through this module if they have clusters.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bears.files.records import read_lines
from bears.types import Question

Z = NormalDist().inv_cdf(0.975)


def wilson(hits: float, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share, ``hits`` of ``n`` questions, n at least 1.

    Unlike mean ± 1.96 standard errors it stays within 0 and 1 and holds for few questions: 48 of
    60 give 0.68 to 0.88.

    Source: Wilson (JASA 1927), without correction for continuity.
    """
    return wilson_of(hits / n, n, Z)


def wilson_of(share: float, size: float, quantile: float) -> tuple[float, float]:
    """Return Wilson's interval of a share that is known as well as from ``size`` questions.

    Args:
        share: from 0 to 1.
        size: need not be whole; infinite if the share is exact.
        quantile: of the distribution of the error, such as `Z`.
    """
    weight = quantile * quantile / size
    half = quantile * math.sqrt(share * (1 - share) / size + weight / (4 * size))
    middle = share + weight / 2
    low, high = (middle - half) / (1 + weight), (middle + half) / (1 + weight)
    # Rounding may leave the ends of 0 and of 1 just outside.
    return (0.0 if share == 0 else low), (1.0 if share == 1 else high)


Floats = NDArray[np.float64]
Clusters = NDArray[np.int64]
"""The cluster of each question, numbered from 0, shape (n,)."""


def clusters_of(questions: Sequence[Question], lineage: Path | None) -> Clusters:
    """Return the cluster of each question.

    Questions belong together if they have the same group, come from the same row (article, paper)
    of their source, or share a relevant document.

    Args:
        questions: n of them.
        lineage: what `sample` noted about the records, which has the rows; None without one.
    """
    lines = (line for _, line in read_lines(lineage)) if lineage else ()
    rows = {line["record_id"]: line["row"] for line in lines if "row" in line}
    first: dict[object, int] = {}
    parents = list(range(len(questions)))

    def root(at: int) -> int:
        while parents[at] != at:
            parents[at] = parents[parents[at]]
            at = parents[at]
        return at

    for at, question in enumerate(questions):
        keys: list[object] = [("document", doc_id) for doc_id in question.gold_doc_ids]
        if question.group:
            keys.append(("group", question.group))
        if question.question_id in rows:
            keys.append(("row", question.source_dataset, rows[question.question_id]))
        for key in keys:
            parents[root(at)] = root(first.setdefault(key, at))
    _, codes = np.unique([root(at) for at in range(len(questions))], return_inverse=True)
    return codes.astype(np.int64)


def effective(clusters: Clusters) -> float:
    """Return how many clusters of equal size are worth as much: n² / Σ size²."""
    _, sizes = np.unique(clusters, return_counts=True)
    return float(len(clusters)) ** 2 / float((sizes.astype(float) ** 2).sum())


def together(clusters: Clusters | None) -> Clusters | None:
    """Return the clusters, or None if each question is one."""
    if clusters is None or not len(clusters) or np.bincount(clusters).max() == 1:
        return None
    return clusters


def described(clusters: Clusters | None) -> dict[str, int]:
    """Return ``n``, how many there are; empty if each question is one."""
    of = together(clusters)
    return {} if of is None else {"n": len(np.unique(of))}


def note(found: Mapping[str, int]) -> str:
    """Say what `described` returns; empty if it is."""
    if not found:
        return ""
    return (
        f"in {found['n']} clusters (articles, papers, files or conversations), resampled by cluster"
    )


def sums(values: Floats, clusters: Clusters) -> Floats:
    """Return the sum of each cluster, shape (g, m), scaled so that their mean is that of all.

    Args:
        values: shape (n, m).
    """
    _, codes = np.unique(clusters, return_inverse=True)
    found: Floats = np.column_stack([np.bincount(codes, column) for column in values.T])
    return found * (len(found) / len(values))


def standard_error(values: Floats, clusters: Clusters) -> tuple[Floats, float]:
    """Return the standard error of each column's mean, and its degrees of freedom.

    It is that of the ratio of two totals, by Taylor linearization (Cochran, Sampling Techniques,
    1977, 11.12). The degrees of freedom are those of as many clusters of equal size. The error of
    a single cluster is not known, so it is infinite.

    Args:
        values: shape (n, m).
    """
    freedom = max(effective(clusters) - 1, 1.0)
    ones = np.ones((len(values), 1))
    residuals = sums(values, clusters) - values.mean(axis=0) * sums(ones, clusters)
    if len(residuals) == 1:
        return np.full(values.shape[1], np.inf), freedom
    errors = np.sqrt((residuals**2).sum(axis=0) / (len(residuals) - 1) / len(residuals))
    return errors, freedom


def share_interval(values: Floats, clusters: Clusters | None = None) -> tuple[float, float]:
    """Return the 95 % interval of the mean of values between 0 and 1, ignoring NaN.

    It is Wilson's, with the sum of the values in place of the hits: exact for values of 0 and 1,
    and too wide for others. With clusters it is Wilson's for as many independent questions as have
    the same standard error, with the quantile of a t distribution (Korn and Graubard, Survey
    Methodology 24, 1998).

    Args:
        values: shape (n,), at least one of them defined.
        clusters: of the questions.
    """
    known = ~np.isnan(values)
    column, n = values[known][:, None], int(known.sum())
    of = together(None if clusters is None else clusters[known])
    if of is None:
        return wilson(math.fsum(column.ravel().tolist()), n)
    (error,), freedom = standard_error(column, of)
    (mean,) = column.mean(axis=0).tolist()
    # Shares spread at least as much as those of independent questions; other values may not.
    most = n if np.isin(column, (0.0, 1.0)).all() else math.inf
    size = min(most, mean * (1 - mean) / float(error) ** 2) if error > 1e-12 else n
    # The error of one cluster is infinite: nothing is known, and the interval is 0 to 1.
    return wilson_of(mean, max(size, 1e-9), float(t_quantile(0.025, freedom)))


def t_quantile(tail: float, freedom: Any) -> Any:
    """Return what Student's t exceeds with the probability ``tail``, as `scipy.stats.t.isf` does.

    Importing scipy.stats takes most of a second, which every stage that evaluates would pay.
    """
    return -special.stdtrit(freedom, tail)
