"""Answers with their scores, verdicts and the step at which they went wrong; and their means."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean
from typing import Any

import numpy as np

from bears.answers.judging.injection import speaks_to_judge
from bears.answers.judging.lexical import contains_gold
from bears.answers.judging.ruling import UNSCORED, VALUES, Case, Graded, Item, Ruling, Verdict
from bears.evaluation.answers.confidence import calibration_errors
from bears.evaluation.answers.score import AnswerScore, by_answer_type, mean_score, mean_scores
from bears.evaluation.means import mean_interval
from bears.evaluation.repeats import by_key, passes
from bears.files.intake.yaml_text import table_of
from bears.language.refusals import refuses
from bears.trace import Trace
from bears.types import Question

CAUSES: Sequence[str] = table_of(__file__)
"""docs/answers.md explains them. A question has the first obstacle that it met. A multi-hop
question needs all of its gold, and any other question one gold document."""
OBSTACLES = ("not_retrieved", "beyond_shown", "cut", "reader")
"""Where a gold document may have stopped, in the order of the pipeline."""


def gold_places(question: Question, trace: Trace) -> dict[str, str]:
    """Return each gold document with the obstacle at which it stopped, ``reader`` if shown."""
    gold, retrieved = list(filter(question.answered_by, trace.shown or ())), trace.retrieved

    def place(doc_id: str) -> str:
        shown = [chunk for chunk in gold if chunk.doc_id == doc_id]
        if shown:
            return "cut" if set(shown) <= set(trace.cut) else "reader"
        missed = retrieved is not None and doc_id not in retrieved
        return "not_retrieved" if missed else "beyond_shown"

    return {doc_id: place(doc_id) for doc_id in question.gold_doc_ids}


def cause_of(
    question: Question, verdict: Verdict, trace: Trace, answered: bool, words: Verdict
) -> str:
    """Return a word of `CAUSES`.

    Args:
        answered: whether there is an answer.
        words: pass if the answer contains the gold answer, fail if they share no word, else
            unscored.
    """
    if not answered:
        return "no_answer"
    if verdict == "unscored":
        return "unscored"
    if {verdict, words} == {"pass", "fail"}:
        return "judge_doubt"
    if trace.shown is None and question.gold_doc_ids and (found := trace.retrieved) is not None:
        seen = not found.isdisjoint(question.gold_doc_ids)
        if verdict == "pass":
            return "right" if seen else "answered_without"
        return "read_not_used" if seen else "not_retrieved"
    places = list(gold_places(question, trace).values())
    if verdict == "pass":
        missing = [place for place in places if place in OBSTACLES[:2]]
        if not missing or trace.shown is None:
            return "right"
        return "right_without_gold" if len(missing) == len(places) else "right_with_part_of_gold"
    if trace.searches == ():
        return "closed_book"
    if not question.judged or trace.shown is None:
        return "unknown"
    needed = min if question.question_type == "multi-hop" else max
    return needed(places, key=OBSTACLES.index, default="reader")


DIGITS = 5


@dataclass(frozen=True)
class JudgedQuestion:
    """A question of the benchmark with a system's answer, if there is one.

    Args:
        trace: of the question; without an answer if the system gave none.
        language: BCP 47 tag of the answer.
        cluster: of the question.
        ruling: on the answer; None before it is judged, or without a judge.
        repeat: which answer to the question this is, from 1.
        judgement: which one of this answer.
        traced: the measures of the trace, if the system says what it searched, those of refusals,
            and those of the graded items.
        asked: whether the system was to answer; else only its ranking is judged.
        faults: the kind of each thing that is wrong with the answer, to a message.
        items: documents, nuggets and sentences to grade.
        graded: those that were graded, in their order.
        most: the measures of these if each item without a ruling has the best one.
    """

    question: Question
    case: Case
    score: AnswerScore
    trace: Trace
    language: str
    cluster: int
    ruling: Ruling | None = None
    repeat: int = 1
    judgement: int = 1
    traced: Mapping[str, float] = field(default_factory=dict)
    asked: bool = True
    faults: Mapping[str, str] = field(default_factory=dict)
    items: tuple[Item, ...] = ()
    graded: tuple[Graded, ...] = ()
    most: Mapping[str, float] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return the id of the question."""
        return self.question.question_id

    def draws(self) -> "Sequence[JudgedQuestion]":
        """Return a row for each question that was drawn."""
        names = [f"{self.key} {number}" for number in range(self.question.weight)]
        questions = [replace(self.question, question_id=name, weight=1) for name in names]
        return [replace(self, question=each) for each in questions]

    @property
    def value(self) -> float:
        """Return 1 for a pass and 0 for a fail, else NaN."""
        return VALUES[self.ruling.verdict] if self.ruling else math.nan

    @cached_property
    def cause(self) -> str:
        """Return a word of `CAUSES`."""
        verdict = self.ruling.verdict if self.ruling else "unscored"
        answered = bool(self.case.answer)
        return cause_of(self.question, verdict, self.trace, answered, self._words())

    @cached_property
    def injection(self) -> bool:
        """Return whether the answer speaks to the judge."""
        return speaks_to_judge(self.case.answer)

    @property
    def refusals(self) -> dict[str, float]:
        """Return ``refusal_recall`` or ``false_refusal``, if it is known what would be right.

        The first is of a question that an annotator calls unanswerable, the second of any other.
        """
        if not self.asked or not self.case.golds:
            return {}
        measure = "false_refusal" if self.score.unanswerable is None else "refusal_recall"
        return {measure: float(self.refused)}

    @cached_property
    def refused(self) -> bool:
        """Return whether the system says that it cannot answer; if it has no word for it, how."""
        if self.trace.refused is not None:
            return self.trace.refused
        return refuses(self.case.answer, self.language)

    def _words(self) -> Verdict:
        """Pass an answer that contains a gold answer, fail one that shares no token with it."""
        if self.score.yes_no is not None:
            return "pass" if self.score.yes_no else "unscored"
        if contains_gold(self.case.golds, self.case.answer, self.language):
            return "pass"
        return "fail" if self.score.answer_f1 == 0 else "unscored"


def with_rulings(rows: Sequence[JudgedQuestion], rulings: Sequence[Ruling]) -> list[JudgedQuestion]:
    """Add the rulings, in the order of the rows; all rows for each judgement."""
    return [
        replace(rows[at % len(rows)], ruling=own, judgement=1 + at // len(rows))
        for at, own in enumerate(rulings)
    ]


def results_of(rows: Sequence[JudgedQuestion]) -> dict[str, Any]:
    """Average over all questions and over each group, as in ``metrics/answers.json``.

    Values and counts of a question are first averaged over its repeats and their judgements.

    Args:
        rows: every question, with its repeats and their judgements.

    Returns:
        ``by_answer_type``, the scores of the answered questions by the type of their best
        reference; and ``all``, ``by_type``, ``by_source`` and, of conversations, ``by_turn``, each
        with ``n`` questions; the scores of `mean_scores`; ``pass_rate`` over the questions with a
        verdict, and ``pass_bounds`` over all of them, counting the ``unscored`` as fails and as
        passes; the number of citations of documents that were not shown; the number of answers
        that speak to the judge; `calibration_errors`; `further_measures`; and a count of each
        cause. A value is null if it is undefined. ``interval_95`` is Wilson's for the pass rate.
        With repeats, ``repeats`` and ``judgements`` say how many. Items without a ruling count as
        the lowest one: ``unscored_items`` says how many there are, and ``bounds`` has the means
        with all of them counted as the lowest and as the highest.
    """

    def grouped(key: Callable[[Question], str]) -> dict[str, Any]:
        keys = sorted({key(row.question) for row in rows})
        return {name: _means([row for row in rows if key(row.question) == name]) for name in keys}

    if any(row.question.weight > 1 for row in rows):
        drawn = [each for row in rows for each in row.draws()]
        rows = [replace(each, cluster=number) for number, each in enumerate(drawn)]
    results: dict[str, Any] = {
        "all": _means(rows),
        "by_type": grouped(lambda question: question.question_type),
        "by_source": grouped(lambda question: question.source_dataset),
        "by_answer_type": {
            kind: {name: rounded(value) for name, value in own.items()}
            for kind, own in by_answer_type(_scores(rows).values()).items()
        },
    }
    if any(row.question.turns for row in rows):
        results["by_turn"] = grouped(lambda question: question.turn)
    names = dict.fromkeys(name for row in rows for name in row.most)
    graded = {name: [row.traced.get(name, math.nan) for row in rows] for name in names}
    columns = {"pass_rate": [row.value for row in rows], **graded}
    intervals = {name: _interval(rows, name, values) for name, values in columns.items()}
    if known := {name: ends for name, ends in intervals.items() if ends}:
        results["interval_95"] = known
    if unscored := sum(each.ruling.verdict == UNSCORED for row in rows for each in row.graded):
        results["unscored_items"] = unscored
        most = {name: [row.most.get(name, math.nan) for row in rows] for name in names}
        results["bounds"] = {
            name: [_mean(by_question(rows, of[name])) for of in (graded, most)] for name in names
        }
    repeats, judgements = max(((row.repeat, row.judgement) for row in rows), default=(1, 1))
    counts = {"repeats": repeats, "judgements": judgements}
    return results | {name: count for name, count in counts.items() if count > 1}


def _interval(
    rows: Sequence[JudgedQuestion], measure: str, values: Sequence[float]
) -> list[float | None]:
    """Return the ends of the interval of a mean over questions; empty without a value."""
    known = by_question(rows, values)
    if not known:
        return []
    clusters = {row.key: row.cluster for row in rows}
    own = np.array([*known.values()])
    of = np.array([clusters[key] for key in known])
    return [*map(rounded, mean_interval(own, measure, of))]


def by_question(rows: Sequence[JudgedQuestion], values: Sequence[float]) -> dict[str, float]:
    """Return question_id to the mean of its defined values, if it has one."""
    of = by_key(zip((row.key for row in rows), values, strict=True))
    known = {key: [x for x in own if not math.isnan(x)] for key, own in of.items()}
    return {key: fmean(own) for key, own in known.items() if own}


def further_measures(rows: Sequence[JudgedQuestion]) -> dict[str, list[float]]:
    """Return the measures of each row's trace, and ``pass@k`` and ``pass^k`` of its repeats."""
    most = max((row.repeat for row in rows if row.ruling), default=1)
    places = [(row.key, row.judgement) for row in rows]
    right = by_key(zip(places, (row.value for row in rows), strict=True))
    found = {place: passes(own, most) for place, own in right.items()}
    names = dict.fromkeys(name for row in rows for name in row.traced)
    return {
        **{name: [row.traced.get(name, math.nan) for row in rows] for name in names},
        **{name: [found[place][name] for place in places] for name in passes([], most)},
    }


def _scores(rows: Sequence[JudgedQuestion]) -> dict[str, AnswerScore]:
    found = by_key((row.key, row.score) for row in rows)
    return {key: mean_score(own) for key, own in found.items()}


def _means(rows: Sequence[JudgedQuestion]) -> dict[str, Any]:
    scores, further = _scores(rows), further_measures(rows)
    measured = {name: _mean(by_question(rows, values)) for name, values in further.items()}
    if not any(row.asked for row in rows):
        return {"n": len(scores), **measured}
    causes = {cause: _count(rows, [row.cause == cause for row in rows]) for cause in CAUSES}
    return {
        "n": len(scores),
        "answered": _number(_count(rows, [bool(row.case.answer) for row in rows])),
        "refused_in_words": _number(
            _count(rows, [row.refused and row.trace.refused is None for row in rows])
        ),
        "answered_pass_rate": _mean(
            by_question(rows, [math.nan if row.refused else row.value for row in rows])
        ),
        **{name: rounded(mean) for name, mean in mean_scores(scores.values()).items()},
        **_pass_rates(rows),
        **measured,
        "cited_not_given": _number(_count(rows, [row.trace.cited_not_given for row in rows])),
        "flagged": _number(_count(rows, [row.injection for row in rows])),
        **_calibration(rows),
        "causes": {cause: _number(count) for cause, count in causes.items() if count},
    }


def _calibration(rows: Sequence[JudgedQuestion]) -> dict[str, float | None]:
    """Return `calibration_errors` of the answers with a verdict."""
    judged = [row for row in rows if not math.isnan(row.value) and row.trace.answer is not None]
    stated = [row.trace.confidence for row in judged]
    errors = calibration_errors(stated, [row.value for row in judged])
    return {name: rounded(error) for name, error in errors.items()}


def _pass_rates(rows: Sequence[JudgedQuestion]) -> dict[str, Any]:
    """Return ``pass_rate``, ``pass_bounds`` and ``unscored``; None without a judge."""
    verdicts = [row.ruling.verdict for row in rows if row.ruling]
    if not verdicts:
        return dict.fromkeys(("pass_rate", "pass_bounds", "unscored"))
    n = len({row.key for row in rows})
    passed, unscored = (
        _count(rows, [verdict == word for verdict in verdicts]) for word in ("pass", "unscored")
    )
    return {
        "pass_rate": _mean(by_question(rows, [row.value for row in rows])),
        "pass_bounds": [rounded(each / n) for each in (passed, passed + unscored)],
        "unscored": _number(unscored),
    }


def _count(rows: Sequence[JudgedQuestion], counts: Sequence[int]) -> float:
    """Return the sum over the questions of the mean over the rows of each."""
    return math.fsum(by_question(rows, counts).values())


def _number(count: float) -> float:
    found = round(count, DIGITS)
    return int(found) if found.is_integer() else found


def _mean(values: Mapping[str, float]) -> float | None:
    return rounded(fmean(values.values())) if values else None


def rounded(value: float | None) -> float | None:
    """Round a value to the digits that metrics have."""
    return None if value is None else round(value, DIGITS)
