"""Measure a run against the gold: values by question, their means, and the effect of ties."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.config.packaged import install_command
from bears.config.typed import in_project
from bears.errors import ConfigurationError, FormatError
from bears.evaluation.clusters import Clusters, described, share_interval
from bears.evaluation.foreign import canonical, foreign_measure, numbered
from bears.evaluation.measures.average_precision import AVERAGE_PRECISION
from bears.evaluation.measures.kor_map_official import KOR_MAP_OFFICIAL
from bears.evaluation.measures.kor_map_strict import KOR_MAP_STRICT
from bears.evaluation.measures.ndcg import NDCG
from bears.evaluation.measures.precision import PRECISION
from bears.evaluation.measures.r_precision import R_PRECISION
from bears.evaluation.measures.recall import RECALL
from bears.evaluation.measures.reciprocal_rank import RECIPROCAL_RANK
from bears.evaluation.measures.retrieval_accuracy import RETRIEVAL_ACCURACY
from bears.evaluation.measures.span_iou import SPAN_IOU
from bears.evaluation.measures.span_precision import SPAN_PRECISION
from bears.evaluation.measures.span_recall import SPAN_RECALL
from bears.evaluation.measures.span_success import SPAN_SUCCESS
from bears.evaluation.measures.strict import STRICT
from bears.evaluation.measures.success import SUCCESS
from bears.evaluation.metric import (
    Floats,
    JudgedRankings,
    Metric,
    Reads,
    SpanRankings,
    ideal_ranks,
    judged_rankings,
)
from bears.evaluation.tie_bounds import Gold, relevant, tie_bounds
from bears.files.trec import RunTable, ScoredRun, run_of_rankings
from bears.types import ChunkRun, Question, Run

METRICS = (
    *(SUCCESS, STRICT, RECALL, PRECISION, RECIPROCAL_RANK, NDCG, AVERAGE_PRECISION),
    *(RETRIEVAL_ACCURACY, R_PRECISION, KOR_MAP_OFFICIAL, KOR_MAP_STRICT),
    *(SPAN_RECALL, SPAN_PRECISION, SPAN_IOU, SPAN_SUCCESS),
)

FOREIGN = {name: metric.name for metric in METRICS for name in metric.foreign}
Columns = Mapping[str, Floats]
"""Name of a measure to its values for n questions, shape (n,); NaN if undefined."""
TOLERANCE = 1e-12
"""Means that differ by no more than this are equal."""
Beside = Mapping[Reads, Any]
"""What measures read beside the ranks of relevant documents; see `Metric`."""
NOTHING: Beside = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric with its cutoff.

    Attributes:
        name: its name in configurations and results.
        k: how many documents or chunks it looks at.
        budget: instead of ``k``, how many characters the chunks may have together.
    """

    name: str
    metric: Metric
    k: int | None
    budget: int | None = None

    def values(self, rankings: JudgedRankings, beside: Beside = NOTHING) -> Floats:
        """Return one value per question, NaN if undefined; see `bears.evaluation.measures`.

        Without chunks, the sources are the ranked documents.
        """
        reads = self.metric.reads
        if self.budget and reads in beside:
            spans: SpanRankings = beside[reads].shown_in(self.budget)
            return self.metric.function(spans, int(spans.rank.max(initial=1)))
        if reads in beside:
            return self.metric.function(beside[reads], self.k)
        if reads in ("ranks", "sources"):
            return self.metric.function(rankings, self.k)
        return np.full(len(rankings.returned), np.nan)


def our_name(name: str) -> str:
    """Return our name of a measure, or the canonical one if only ir_measures has it.

    Other names stay as they are.
    """
    word = name.partition("@")[0]
    known = {metric.name for metric in METRICS} | FOREIGN.keys()
    return _mapped(name if word in known else canonical(name))


def _mapped(name: str) -> str:
    word, at, k = name.partition("@")
    return f"{FOREIGN.get(word, word)}{at}{k}"


def listed_names(text: str) -> list[str]:
    """Return the names of measures in a list with commas, such as ``mrr,INST(T=1,max_rel=2)``."""
    return [name.strip() for name in re.split(r",(?![^(]*\))", text)]


def parse_measure(name: str) -> Measure:
    """Return the measure with a name: ``ndcg@10``, or ``ndcg`` for the whole ranking.

    ``nDCG@10`` is the name that ir_measures has for it; see `our_name`. ``module.name@10`` is a
    `Metric` that a module of the project defines. ``span_recall@4000c`` is for the best chunks
    that fit into 4,000 characters. What ours lack is computed by ir_measures, if it is installed.

    Raises:
        ConfigurationError: no measure has this name, the cutoff is missing or not allowed, or it
            is not a plain whole number from 1; or ir_measures cannot compute it.
    """
    own = our_name(name)
    if found := own_measure(own):
        return found
    if foreign := foreign_measure(own):
        return Measure(own, *foreign)
    right = [f"{metric.name}@k" for metric in METRICS if metric.cutoff]
    right += [metric.name for metric in METRICS if metric.whole]
    right += [f"{metric.name}@Nc" for metric in METRICS if metric.reads == "spans"]
    raise ConfigurationError(
        f"unknown measure {name!r}; the measures are {', '.join(right)} (k and N whole "
        "numbers >= 1, N of characters), "
        f"and those of ir_measures if it is installed: {install_command('measures')}"
    )


def own_measure(name: str) -> Measure | None:
    """Return our measure, or that of a module of the project; None if ours lack the name."""
    own = _mapped(name)
    match = re.fullmatch(r"([a-z0-9_.]+)(?:@([1-9][0-9]*)(c?))?", own)
    word, digits, unit = match.groups() if match else (name, None, None)
    for metric in (*METRICS, *_of_project(word)):
        if metric.name != word or not (metric.cutoff if digits else metric.whole):
            continue
        number = int(digits) if digits else None
        if not unit:
            return Measure(own, metric, number)
        if metric.reads == "spans":
            return Measure(own, metric, None, number)
    return None


def _of_project(name: str) -> list[Metric]:
    """Return the metric that a module of the project defines, under its full name."""
    module, _, last = name.rpartition(".")
    found = getattr(import_module(module), last, None) if in_project(module) else None
    return [replace(found, name=name)] if isinstance(found, Metric) else []


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """The scores of a run for each of the n questions of the gold, in the gold's order.

    Attributes:
        values: the requested measures, ties broken by `bears.files.trec.order`.
        lowest: the same with tied documents in their worst order; unchanged for
            kor_map_official, which may drop when a relevant document moves up.
        highest: the same with tied documents in their best order.
        answered: coverage: which questions of the gold have any document in the run.
        summed: the measures whose value of several questions is a sum.
    """

    values: Columns
    lowest: Columns = field(default_factory=dict)
    highest: Columns = field(default_factory=dict)
    answered: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    summed: Collection[str] = ()


def gold_of(questions: Iterable[Question]) -> Gold:
    """Return question_id to the grades of its judged documents, None if they are unknown."""
    return {each.question_id: each.judgements if each.judged else None for each in questions}


def evaluate(
    run: Run | RunTable | ScoredRun,
    gold: Gold,
    measures: Sequence[Measure],
    spans: SpanRankings | None = None,
    chunks: ChunkRun | None = None,
) -> Evaluation:
    """Measure ``run`` on every question of ``gold``.

    A question that the run lacks counts as an empty ranking. If nothing is relevant, that is the
    right answer; the docstring of a measure says whether it then gives 1 or is undefined. A
    question that is not judged is undefined in every measure.

    Args:
        run: its rankings in columns, or question_id to ranking, which is sorted here; `scored_run`
            is the fastest way from dictionaries.
        gold: question_id to doc_id to grade, None if unknown; see `Gold`. Only measures of grades
            take a partially relevant document into account, as in trec_eval with ``-l``.
        measures: what to measure.
        spans: what the retrieved chunks cover of each question's spans, in the order of ``gold``;
            without it, measures of spans are undefined.
        chunks: the retrieved chunks, whose documents are the sources; without them, every document
            of the run is one.

    Raises:
        FormatError: the run has a question that is not in the gold, a document twice in one
            question, or a score that is not finite.
    """
    table = run if isinstance(run, RunTable | ScoredRun) else run_of_rankings(run)
    if unknown := [question_id for question_id in table.question_ids if question_id not in gold]:
        raise FormatError(
            f"the run has {len(unknown)} questions that the gold lacks, such as {unknown[0]!r:.80}"
        )
    own, worst, best = tie_bounds(table, gold)
    read = {measure.metric.reads for measure in measures}
    beside: dict[Reads, Any] = {} if spans is None else {"spans": spans}
    if "sources" in read and chunks is not None:
        beside["sources"] = source_rankings(chunks, gold)
    if "judgements" in read:
        beside["judgements"] = numbered(table, gold)
    values = _columns(own, measures, gold, beside)
    bounded = [
        each for each in measures if each.metric.gains_by_rank and each.metric.reads not in beside
    ]
    lowest = {**values, **_columns(worst, bounded, gold)}
    highest = {**values, **_columns(best, bounded, gold)}
    summed = [measure.name for measure in measures if measure.metric.summed]
    return Evaluation(values, lowest, highest, own.returned > 0, summed)


def source_rankings(chunks: ChunkRun, gold: Gold) -> JudgedRankings:
    """Return the rankings of n questions in which each chunk has a place, in the gold's order."""
    wanted = [
        {doc_id for doc_id, grade in relevant(own).items() if grade >= 1} for own in gold.values()
    ]
    grades = [
        [int(hit.doc_id in own) for hit in chunks.get(question_id, ())]
        for question_id, own in zip(gold, wanted, strict=True)
    ]
    return judged_rankings(grades, [[1] * len(own) for own in wanted])


def summarize(
    evaluation: Evaluation, chosen: NDArray[np.bool_] | None = None
) -> dict[str, float | int | None]:
    """Average over the questions that the mask ``chosen``, shape (n,), selects; None for all.

    Returns:
        The mean (or sum) of each measure over the questions for which it is defined, or None;
        ``n``, the number of questions; and, only if it is not 0, ``n_undefined``, the number of
        questions for which some measure is undefined.
    """
    picked = slice(None) if chosen is None else chosen
    columns = {name: column[picked] for name, column in evaluation.values.items()}
    lacking = np.logical_or.reduce([np.isnan(column) for column in columns.values()])
    summary = {**_means(columns, evaluation.summed), "n": len(lacking)}
    return {**summary, "n_undefined": int(lacking.sum())} if lacking.any() else summary


def undefined(evaluation: Evaluation) -> dict[str, int]:
    """Count the questions for which each measure is undefined, without the zeros."""
    counts = {name: int(np.isnan(column).sum()) for name, column in evaluation.values.items()}
    return {name: count for name, count in counts.items() if count}


def tie_range(evaluation: Evaluation) -> dict[str, dict[str, float]]:
    """Return the lowest and the highest mean over the orders of tied documents.

    Returns:
        ``{measure: {"low": …, "high": …}}`` for the measures whose two means differ by more than
        1e-12; empty if ties have no effect.
    """
    low, high = _means(evaluation.lowest), _means(evaluation.highest)
    return {
        name: {"low": lower, "high": upper}
        for name, lower in low.items()
        if lower is not None and (upper := high[name]) is not None and upper - lower > TOLERANCE
    }


def intervals(
    evaluation: Evaluation, measures: Sequence[Measure], clusters: Clusters | None = None
) -> dict[str, dict[str, float]]:
    """Return the 95 % Wilson interval of each yes-or-no measure, over all questions.

    Args:
        evaluation: the values.
        measures: some of its measures.
        clusters: of the questions.

    Returns:
        ``{measure: {"low": …, "high": …}}``, without a measure that is undefined everywhere.
    """
    ranges = {}
    for measure in measures:
        values = evaluation.values[measure.name]
        if measure.metric.yes_or_no and len(defined(values)):
            low, high = share_interval(values, clusters)
            ranges[measure.name] = {"low": low, "high": high}
    return ranges


def as_drawn(
    evaluation: Evaluation, questions: Sequence[Question], clusters: Clusters | None
) -> tuple[Evaluation, Sequence[Question], Clusters | None]:
    """Return each question as often as it was drawn, with its values and its cluster.

    Draws of what users asked are independent, so those of a weighted benchmark have no clusters.
    """
    at = draws_of(questions)
    if len(at) == len(questions):
        return evaluation, questions, clusters
    columns = (evaluation.values, evaluation.lowest, evaluation.highest)
    values, lowest, highest = ({name: own[at] for name, own in each.items()} for each in columns)
    answered = evaluation.answered[at]
    drawn = Evaluation(values, lowest, highest, answered, evaluation.summed)
    return drawn, [questions[place] for place in at], None


def draws_of(questions: Sequence[Question]) -> NDArray[np.int64]:
    """Return the place of each question, as often as it was drawn."""
    return np.repeat(np.arange(len(questions)), [question.weight for question in questions])


def ceilings(gold: Gold, measures: Sequence[Measure], drawn: Any = slice(None)) -> dict[str, float]:
    """Return the mean of a perfect run for each measure that cannot reach its best value.

    ``strict@2`` cannot reach 1 if questions have three gold documents.

    Args:
        drawn: the places of the questions, as `draws_of` returns them.
    """
    ideal = ideal_ranks([list(relevant(grades).values()) for grades in gold.values()])
    columns = _columns(JudgedRankings(ideal, ideal, ideal.count()), measures, gold)
    means = _means({name: column[drawn] for name, column in columns.items()})
    return {
        measure.name: mean
        for measure in measures
        if (mean := means[measure.name]) is not None and mean < measure.metric.best - TOLERANCE
    }


def results_of(
    evaluation: Evaluation,
    questions: Sequence[Question],
    measures: Sequence[Measure],
    clusters: Clusters | None = None,
) -> dict[str, Any]:
    """Average over all questions and over each group, with the limits of those means."""
    ceiling = ceilings(gold_of(questions), measures, draws_of(questions))
    evaluation, questions, clusters = as_drawn(evaluation, questions, clusters)

    def grouped(key: Callable[[Question], str]) -> dict[str, Any]:
        keys = [key(question) for question in questions]
        return {name: summarize(evaluation, np.array(keys) == name) for name in sorted(set(keys))}

    results = {
        "all": {**summarize(evaluation), "answered": int(evaluation.answered.sum())},
        "by_type": grouped(lambda question: question.question_type),
        "by_source": grouped(lambda question: question.source_dataset),
        **({"by_turn": grouped(lambda q: q.turn)} if any(q.turns for q in questions) else {}),
        "tie_range": tie_range(evaluation),
        "ceiling": ceiling,
        "interval_95": intervals(evaluation, measures, clusters),
        **({"clusters": found} if (found := described(clusters)) else {}),
    }
    counts = undefined(evaluation)
    return {**results, "undefined": counts} if counts else results


def defined(column: Floats) -> Floats:
    """Return the values that are not NaN."""
    return column[~np.isnan(column)]


def _columns(
    rankings: JudgedRankings,
    measures: Sequence[Measure],
    gold: Gold,
    beside: Beside = NOTHING,
) -> dict[str, Floats]:
    full = rankings.full
    judged = np.array([grades is not None for grades in gold.values()], np.bool_)
    # A question with partial answers alone has an unknown best answer.
    fully = judged & ((full.relevant > 0) | (rankings.relevant == 0))
    return {
        measure.name: np.where(judged, measure.values(rankings, beside), np.nan)
        if measure.metric.graded
        else np.where(fully, measure.values(full, beside), np.nan)
        for measure in measures
    }


def _means(columns: Columns, summed: Collection[str] = ()) -> dict[str, float | None]:
    means: dict[str, float | None] = {}
    for name, column in columns.items():
        values = defined(column)
        # fsum rounds once, so that the order of the questions cannot reach the result.
        total, n = math.fsum(values), 1 if name in summed else len(values)
        means[name] = total / n if len(values) else None
    return means
