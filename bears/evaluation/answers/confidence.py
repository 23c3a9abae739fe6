"""Calibration: whether answers are right as often as the confidence that they state says."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from bears.evaluation.metric import Floats

BIN = 100
"""Answers in a bin; the last one has those that are left too."""


def calibration_errors(stated: Sequence[float | None], right: Sequence[float]) -> dict[str, float]:
    """Return the errors of the confidence of answers; empty if none states one.

    ``calibration_error`` takes the answers that state a confidence, sorted by it, in bins of 100.
    It is the root of the mean of the squared gaps between mean confidence and share of right
    answers, weighted by the answers in a bin. ``browsecomp_calibration_error`` is that of
    BrowseComp-Plus' program: an answer without a stated confidence has 1, the last bin is left out
    although its answers count in the weights, and below 100 answers it is 0.

    Args:
        stated: of each answer, from 0 to 1, or None.
        right: 1 or 0 of each answer.
    """
    known = np.array([each is not None for each in stated], bool)
    if not known.any():
        return {}
    confidence = np.array([1.0 if each is None else each for each in stated])
    correct = np.asarray(right, float)
    ours = np.argsort(confidence[known], kind="stable")
    theirs = np.argsort(confidence)
    return {
        "calibration_error": sqrt(_gaps(confidence[known][ours], correct[known][ours]).sum()),
        "browsecomp_calibration_error": sqrt(_gaps(confidence[theirs], correct[theirs])[:-1].sum()),
    }


def _gaps(confidence: Floats, correct: Floats) -> Floats:
    """Return the squared gap of each bin, weighted by its share of the answers."""
    n = len(confidence)
    starts = np.arange(max(n // BIN, 1)) * BIN
    sizes = np.diff(starts, append=n)
    gaps = np.add.reduceat(confidence - correct, starts) / sizes
    return np.asarray(gaps**2 * sizes / n)
