"""How far a mean depends on the questions, on the runs of a system, and on its judge."""

from dataclasses import dataclass

import numpy as np

from bears.evaluation.judged_rankings import Floats


@dataclass(frozen=True, slots=True)
class VarianceParts:
    """The parts of the variance of a mean; with one judgement of each run, ``runs`` has both.

    Source: Miller, arXiv 2411.00640; nested mean squares, of which negative estimates are 0.
    """

    questions: float
    runs: float
    judge: float

    @property
    def total(self) -> float:
        """Return the variance of the mean."""
        return self.questions + self.runs + self.judge


def variance_parts(values: Floats) -> VarianceParts:
    """Return the parts of the variance of the mean of ``values``.

    Args:
        values: shape (questions, runs, judgements), at least two questions and two runs.
    """
    n, runs, judgements = values.shape
    by_run = values.mean(axis=2)
    of_questions = runs * judgements * by_run.mean(axis=1).var(ddof=1)
    of_runs = judgements * by_run.var(axis=1, ddof=1).mean()
    of_judge = values.var(axis=2, ddof=1).mean() if judgements > 1 else 0.0
    question = max(of_questions - of_runs, 0.0) / (runs * judgements)
    run = max(of_runs - of_judge, 0.0) / judgements
    size = n * runs
    return VarianceParts(question / n, run / size, float(of_judge) / (size * judgements))


def note(values: Floats, measure: str) -> str:
    """Say where the uncertainty of a mean comes from, and how to reduce it; empty without any.

    Args:
        values: shape (questions, runs); questions with an undefined value are left out.
    """
    known = values[~np.isnan(values).any(axis=1)]
    if len(known) < 2 or values.shape[1] < 2:
        return ""
    parts = variance_parts(known[:, :, None])
    if parts.total == 0:
        return ""
    share = parts.questions / parts.total
    # Twice the questions halve the variance; repeats only lower the part of the runs.
    advice = "more questions help, more repeats hardly" if share > 0.5 else "more repeats help"
    return f"{share:.0%} of the uncertainty of {measure} is in the questions: {advice}"
