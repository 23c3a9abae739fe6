"""Several answers of a system to one question: how far a mean depends on which it gave."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from bears.evaluation.metric import Floats
from bears.trace import Trace
from bears.types import Question

if TYPE_CHECKING:
    import pandas as pd

K = TypeVar("K")
V = TypeVar("V")
PLACES = ("repeat", "judgement")
"""Columns that number the repeats of a question, and the judgements of each."""
NOTHING, HALF = 0.05, 0.55
"""Shares of the variance: of a part that is not worth a repeat, and of one that repeats halve."""
Repeat = Mapping[str, Trace]
"""question_id to trace, of one run of a system."""


def repeats_of(traces: Iterable[Trace]) -> list[dict[str, Trace]]:
    """Return the repeats of the questions: the n-th has the n-th trace of each."""
    of = by_key((trace.question_id, trace) for trace in traces)
    most = max(map(len, of.values()), default=0)
    return [{key: own[at] for key, own in of.items() if at < len(own)} for at in range(most)]


def by_key(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Return the values of each key, in their order."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def asked_in(
    repeats: Sequence[Repeat], questions: Sequence[Question]
) -> Iterator[tuple[Repeat, list[Question]]]:
    """Yield each repeat with its questions; one without any trace is a question of all."""
    repeats = repeats or [{}]
    for repeat in repeats:
        left_out = repeats[0].keys() - repeat.keys()
        yield repeat, [each for each in questions if each.question_id not in left_out]


def passes(right: Sequence[float], most: int) -> dict[str, float]:
    """Return ``pass@k`` and ``pass^k`` of one question, for k from 2 to ``most``.

    They are the probabilities that one and that all of k of its repeats are right; undefined if
    there are fewer than k. Sources: Chen et al., arXiv 2107.03374; Yao et al., arXiv 2406.12045.

    Args:
        right: 1 or 0 for each repeat, NaN if that is not known.
    """
    known = [value for value in right if not math.isnan(value)]
    n, c = len(known), sum(value == 1 for value in known)
    found = {}
    for k in range(2, most + 1):
        ways = math.comb(n, k) or math.nan
        found[f"pass@{k}"] = 1 - math.comb(n - c, k) / ways
        found[f"pass^{k}"] = math.comb(c, k) / ways
    return found


class VarianceParts(NamedTuple):
    """The parts of the variance of a mean.

    With one judgement of each run, ``runs`` has both; with one run, ``questions`` has both.

    Source: Miller, arXiv 2411.00640; nested mean squares, of which negative estimates are 0.
    """

    questions: float
    runs: float
    judge: float


def variance_parts(values: Floats) -> VarianceParts:
    """Return the parts of the variance of the mean of ``values``.

    Args:
        values: shape (questions, runs, judgements), at least two questions.
    """
    n, runs, judgements = values.shape
    by_run = values.mean(axis=2)
    of_questions = runs * judgements * by_run.mean(axis=1).var(ddof=1)
    of_judge = values.var(axis=2, ddof=1).mean() if judgements > 1 else 0.0
    of_runs = judgements * by_run.var(axis=1, ddof=1).mean() if runs > 1 else of_judge
    question = max(of_questions - of_runs, 0.0) / (runs * judgements)
    run = max(of_runs - of_judge, 0.0) / judgements
    size = n * runs
    return VarianceParts(question / n, run / size, float(of_judge) / (size * judgements))


def note(rows: "pd.DataFrame", main: str) -> str:
    """Say where the uncertainty of a mean comes from, and how to halve it; empty if it has none.

    It is about the measure ``main``, or about the first of those that were repeated. Questions
    with an undefined value are left out.

    Args:
        rows: the values of each question, repeat and judgement.
    """
    if rows.columns.empty:
        return ""
    measure = next(name for name in (main, "pass_rate", rows.columns[0]) if name in rows)
    table = rows[measure].unstack([*PLACES]).sort_index(axis="columns").dropna()
    runs, judgements = (len(set(table.columns.get_level_values(place))) for place in PLACES)
    if len(table) < 2 or table.shape[1] == 1 or table.shape[1] < runs * judgements:
        return ""
    return said(table.to_numpy().reshape(-1, runs, judgements), measure)


def said(values: Floats, measure: str) -> str:
    """Say which part of the variance of a mean is where, and what lowers it.

    Args:
        values: shape (questions, runs, judgements).
    """
    n, runs, judgements = values.shape
    parts = variance_parts(values)
    total = sum(parts)
    if total == 0:
        return ""
    run, judge = parts.runs / total, parts.judge / total
    # A further repeat is judged too.
    levers = {"repeats": (runs, run + judge), "judgements": (judgements, judge)}
    advice = [f"{n} more questions halve the variance"]
    for more, (times, gain) in levers.items():
        if times > 1 and gain > HALF:
            # So many that this part is what the others leave of the half.
            needed = math.ceil(times * gain / (gain - 0.5) - 1e-9) - times
            advice.append(f"{needed} more {more} halve it too")
        elif times > 1:
            most = f"lower it by at most {gain:.0%}" if gain >= NOTHING else "buy nothing"
            advice.append(f"more {more} {most}")
    where = f"{1 - run - judge:.0%} of the uncertainty of {measure} is in the questions"
    if runs > 1:
        where += f", {run:.0%} in the runs"
    if judgements > 1:
        where += f", {judge:.0%} in the judge"
    return f"{where}: {', '.join(advice)}"
