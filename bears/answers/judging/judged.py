"""Answers with their verdicts, scores and causes, and what they come to."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bears.answers.judging.bench import Rulings, agreements
from bears.answers.judging.causes import CAUSES
from bears.answers.judging.ruling import Case, Ruling
from bears.evaluation.answers.score import AnswerScore, summarise_answers
from bears.evaluation.intervals import wilson
from bears.types import Question

DIGITS = 5
MEASURES = (
    *("answer_f1", "exact_match", "evidence_f1", "yes_no_accuracy", "unanswerable_detection"),
)


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question of the benchmark, answered or not.

    Args:
        ruling: of the judge; None without a judge.
        gold_places: each gold document to where it stopped, as `causes.places` gives it.
        flags: what to look at: words that would tell a judge what to say, and the like.
    """

    question: Question
    case: Case
    ruling: Ruling | None
    score: AnswerScore
    cause: str
    gold_places: Mapping[str, str]
    cited_not_given: int
    flags: tuple[str, ...]


def results_of(rows: Sequence[JudgedQuestion], rulings: Rulings) -> dict[str, Any]:
    """Means over all questions and over each group of them, as ``metrics/answers.json`` has them.

    Args:
        rows: every question.
        rulings: of each judge, in the order of the rows.

    Returns:
        ``by_answer_type``, the scores of the answered questions by the type of their best
        reference; and ``all``, ``by_type`` and ``by_source``. Of each: ``n`` questions; the scores
        of `summarise_answers`; ``pass_rate`` over those that have a verdict, and ``pass_bounds``
        over all of them, counting the ``unscored`` as fails and as passes; citations of what was
        not given; answers flagged as speaking to the judge; and a count of each cause that
        occurs. Null where undefined. ``interval_95`` is Wilson's of the pass rate. Where several
        judge, ``judges`` has the rates of each, and ``agreement`` what `agreements` says of pairs.
    """

    def grouped(key: Callable[[Question], str]) -> dict[str, Any]:
        keys = sorted({key(row.question) for row in rows})
        return {each: _means([row for row in rows if key(row.question) == each]) for each in keys}

    results = {
        "all": _means(rows),
        "by_type": grouped(lambda question: question.question_type),
        "by_source": grouped(lambda question: question.source_dataset),
        "by_answer_type": by_answer_type(rows),
    }
    counts = Counter(row.ruling.verdict for row in rows if row.ruling)
    if scored := counts["pass"] + counts["fail"]:
        ends = [rounded(end) for end in wilson(counts["pass"], scored)]
        results["interval_95"] = {"pass_rate": ends}
    if len(rulings) > 1:
        results["judges"] = {name: pass_rates(own) for name, own in rulings.items()}
        results["agreement"] = agreements(rulings)
    return results


def by_answer_type(rows: Sequence[JudgedQuestion]) -> dict[str, dict[str, float | None]]:
    """A type of answers to their number and scores, as QASPER's owners report them."""
    scores = {row.question.question_id: row.score for row in rows}
    kinds: dict[str, dict[str, float | None]] = summarise_answers(scores, len(rows))["by_type"]
    return {
        kind: {name: rounded(value) for name, value in own.items()}
        for kind, own in kinds.items()
        if own["n"]
    }


def _means(rows: Sequence[JudgedQuestion]) -> dict[str, Any]:
    scores = {row.question.question_id: row.score for row in rows}
    answered = sum(bool(row.case.answer) for row in rows)
    summary = summarise_answers(scores, answered)
    causes = Counter(row.cause for row in rows)
    return {
        "n": len(rows),
        "answered": answered,
        **{name: rounded(summary[name]) for name in MEASURES},
        **pass_rates([row.ruling for row in rows]),
        "cited_not_given": sum(row.cited_not_given for row in rows),
        "flagged": sum("injection" in row.flags for row in rows),
        "causes": {cause: causes[cause] for cause in CAUSES if causes[cause]},
    }


def pass_rates(rulings: Sequence[Ruling | None]) -> dict[str, Any]:
    """``pass_rate``, ``pass_bounds`` and ``unscored`` of rulings; null without a judge."""
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
    """As many digits as metrics have."""
    return None if value is None else round(value, DIGITS)


def ranked(bounds: Mapping[str, Sequence[float] | None]) -> tuple[list[str], list[tuple[str, str]]]:
    """Systems from the best to the worst, and the pairs that nobody can rank.

    Args:
        bounds: system to its least and its greatest pass rate, see ``pass_bounds``.

    Returns:
        The systems, by name where any pair cannot be ranked; and these pairs: a verdict that is
        missing would decide which of the two is better.
    """
    names = sorted(bounds)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    open_pairs = [pair for pair in pairs if _overlap(*(bounds[name] for name in pair))]
    if open_pairs:
        return names, open_pairs
    return sorted(names, key=lambda name: tuple(bounds[name] or ()), reverse=True), []


def _overlap(a: Sequence[float] | None, b: Sequence[float] | None) -> bool:
    """Whether either could be the higher one; two points that are equal are known to be."""
    if a is None or b is None:
        return True
    points = a[0] == a[1] and b[0] == b[1]
    return not points and a[0] <= b[1] and b[0] <= a[1]
