"""Answers with their scores, verdicts and causes, and their means."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bears.answers.judging.causes import CAUSES, cause_of, gold_places
from bears.answers.judging.injection import speaks_to_judge
from bears.answers.judging.lexical import contains_gold
from bears.answers.judging.panel import Rulings, agreements, majority
from bears.answers.judging.ruling import VALUES, Case, Ruling, Verdict
from bears.evaluation.answers.confidence import calibration_errors
from bears.evaluation.answers.score import AnswerScore, summarize_answers
from bears.evaluation.answers.unanswerable_detection import unanswerable_detection
from bears.evaluation.clusters import share_interval
from bears.trace import Trace
from bears.types import Question

DIGITS = 5
SCORES = ("answer_f1", "exact_match", "evidence_f1", "yes_no_accuracy", "unanswerable_detection")


@dataclass(frozen=True)
class JudgedQuestion:
    """A question of the benchmark with a system's answer, if there is one.

    Args:
        trace: of the question; without an answer if the system gave none.
        language: BCP 47 tag of the answer.
        cluster: of the question.
        rulings: of each judge; empty before it is judged, or without a judge.
    """

    question: Question
    case: Case
    score: AnswerScore
    trace: Trace
    language: str
    cluster: int
    rulings: tuple[Ruling, ...] = ()

    @cached_property
    def ruling(self) -> Ruling | None:
        """Return the ruling of the majority; None without a judge."""
        return majority(self.rulings) if self.rulings else None

    @cached_property
    def places(self) -> list[str]:
        """Return the obstacle at which each gold document stopped."""
        return list(gold_places(self.question, self.trace).values())

    @cached_property
    def cause(self) -> str:
        """Return a word of `CAUSES`."""
        verdict = self.ruling.verdict if self.ruling else "unscored"
        answered = bool(self.case.answer)
        return cause_of(self.question, verdict, self.trace, answered, self._words())

    @cached_property
    def flags(self) -> list[str]:
        """Return reasons for a person to look at this answer."""
        answer = self.case.answer
        flags = {
            "injection": speaks_to_judge(answer),
            "cited_not_given": self.trace.cited_not_given > 0,
            "abstained": self.score.unanswerable is None and bool(unanswerable_detection(answer)),
            "judges_differ": len({ruling.verdict for ruling in self.rulings}) > 1,
        }
        return [name for name, raised in flags.items() if raised]

    def _words(self) -> Verdict:
        """Pass an answer that contains a gold answer, fail one that shares no token with it."""
        if self.score.yes_no is not None:
            return "pass" if self.score.yes_no else "unscored"
        if contains_gold(self.case.golds, self.case.answer, self.language):
            return "pass"
        return "fail" if self.score.answer_f1 == 0 else "unscored"


def with_rulings(rows: Sequence[JudgedQuestion], rulings: Rulings) -> list[JudgedQuestion]:
    """Add the rulings of each judge, in the order of the rows."""
    columns = list(zip(*rulings.values(), strict=True)) or [()] * len(rows)
    return [replace(row, rulings=own) for row, own in zip(rows, columns, strict=True)]


def results_of(rows: Sequence[JudgedQuestion], rulings: Rulings) -> dict[str, Any]:
    """Average over all questions and over each group, as in ``metrics/answers.json``.

    Args:
        rows: every question.
        rulings: of each judge, in the order of the rows.

    Returns:
        ``by_answer_type``, the scores of the answered questions by the type of their best
        reference; and ``all``, ``by_type`` and ``by_source``, each with ``n`` questions; the
        scores of `summarize_answers`; ``pass_rate`` over the questions with a verdict, and
        ``pass_bounds`` over all of them, counting the ``unscored`` as fails and as passes; the
        number of citations of documents that were not shown; the number of answers that speak to
        the judge; `calibration_errors`; and a count of each cause. A value is null if it is
        undefined. ``interval_95`` is Wilson's for the pass rate. With several judges, ``judges``
        has the rates of each, and ``agreement`` that of each pair.
    """

    def grouped(key: Callable[[Question], str]) -> dict[str, Any]:
        keys = sorted({key(row.question) for row in rows})
        return {name: _means([row for row in rows if key(row.question) == name]) for name in keys}

    results = {
        "all": _means(rows),
        "by_type": grouped(lambda question: question.question_type),
        "by_source": grouped(lambda question: question.source_dataset),
        "by_answer_type": by_answer_type(rows),
    }
    ruled = np.array([VALUES[row.ruling.verdict] if row.ruling else np.nan for row in rows])
    if not np.isnan(ruled).all():
        ends = share_interval(ruled, np.array([row.cluster for row in rows]))
        results["interval_95"] = {"pass_rate": [rounded(end) for end in ends]}
    if len(rulings) > 1:
        results["judges"] = {name: pass_rates(own) for name, own in rulings.items()}
        results["agreement"] = agreements(rulings)
    return results


def by_answer_type(rows: Sequence[JudgedQuestion]) -> dict[str, dict[str, float | None]]:
    """Return the number and the scores of each type of answers, as QASPER's owners report them."""
    scores = {row.question.question_id: row.score for row in rows}
    kinds: dict[str, dict[str, float | None]] = summarize_answers(scores, len(rows))["by_type"]
    return {
        kind: {name: rounded(value) for name, value in own.items()}
        for kind, own in kinds.items()
        if own["n"]
    }


def _means(rows: Sequence[JudgedQuestion]) -> dict[str, Any]:
    scores = {row.question.question_id: row.score for row in rows}
    answered = sum(bool(row.case.answer) for row in rows)
    summary = summarize_answers(scores, answered)
    causes = Counter(row.cause for row in rows)
    return {
        "n": len(rows),
        "answered": answered,
        **{name: rounded(summary[name]) for name in SCORES},
        **pass_rates([row.ruling for row in rows]),
        "cited_not_given": sum(row.trace.cited_not_given for row in rows),
        "flagged": sum("injection" in row.flags for row in rows),
        **_calibration(rows),
        "causes": {cause: causes[cause] for cause in CAUSES if causes[cause]},
    }


def _calibration(rows: Sequence[JudgedQuestion]) -> dict[str, float | None]:
    """Return `calibration_errors` of the answers with a verdict."""
    judged = [
        (row.trace.confidence, VALUES[row.ruling.verdict])
        for row in rows
        if row.ruling and row.ruling.verdict != "unscored" and row.trace.answer is not None
    ]
    errors = calibration_errors([stated for stated, _ in judged], [right for _, right in judged])
    return {name: rounded(error) for name, error in errors.items()}


def pass_rates(rulings: Sequence[Ruling | None]) -> dict[str, Any]:
    """Return ``pass_rate``, ``pass_bounds`` and ``unscored`` of rulings; None without a judge."""
    n, counts = len(rulings), Counter(ruling.verdict for ruling in rulings if ruling)
    passed, unscored = counts["pass"], counts["unscored"]
    judged = sum(counts.values()) == n > 0
    bounds = [rounded(passed / n), rounded((passed + unscored) / n)] if judged else None
    return {
        "pass_rate": rounded(passed / (n - unscored)) if judged and n > unscored else None,
        "pass_bounds": bounds,
        "unscored": unscored if judged else None,
    }


def rounded(value: float | None) -> float | None:
    """Round a value to the digits that metrics have."""
    return None if value is None else round(value, DIGITS)
