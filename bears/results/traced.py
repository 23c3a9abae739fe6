"""The scores of traces: of agents, and of systems in production."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from bears.evaluation.answers.score import referenced, score_answers
from bears.evaluation.decided import Decided
from bears.evaluation.evaluate import Evaluation, Measure, evaluate, parse_measure
from bears.evaluation.metric import span_gold
from bears.evaluation.repeats import PLACES, Repeat, asked_in, passes, repeats_of
from bears.evaluation.trace_measures import trace_values
from bears.files.records import stream_documents
from bears.files.traces import read_traces
from bears.results.costs import Costs
from bears.results.records import Records
from bears.results.system import System, frames_of
from bears.results.values import QUESTION, averaged
from bears.retrieval.levels import documents_of
from bears.types import Document

ENDING = ".traces.jsonl"
"""Of the name of a file of traces."""


def evaluation_of(
    traces: Repeat, decided: Decided, documents: Iterable[Document], measures: Sequence[Measure]
) -> Evaluation:
    """Measure the rankings of traces, in which passages are in the order of their first place.

    A question without a trace counts as an empty ranking, and one whose trace does not say what was
    searched is undefined.
    """
    gold = decided.gold
    chunks = {key: each.ranking for key, each in traces.items() if each.searches is not None}
    spans = span_gold(decided.questions, documents)
    covered = spans.rankings(chunks) if spans else None
    ranked = {key: documents_of(hits) for key, hits in chunks.items()}
    found = evaluate(ranked, gold, measures, covered)
    unknown = [key in traces.keys() - chunks.keys() for key in gold]
    values = {name: np.where(unknown, np.nan, each) for name, each in found.values.items()}
    return replace(found, values=values)


def values_of(repeat: Repeat, records: Records) -> pd.DataFrame:
    """Return the values of one repeat, a row for each question."""
    questions, language = records.questions, records.benchmark.language
    found = dict(trace_values(questions, repeat))
    if any(each.answer is not None for each in repeat.values()):
        asked = referenced(questions, records.lineage, language)
        scores = score_answers(asked, repeat, language).values()
        for name in ("answer_f1", "exact_match"):
            found[name] = np.array([getattr(score, name) for score in scores], float)
    if any(each.searches is not None for each in repeat.values()):
        measures = list(map(parse_measure, dict.fromkeys(records.evaluate.measures)))
        documents = stream_documents(records.corpus)
        found |= evaluation_of(repeat, records.decided, documents, measures).values
    values, _ = frames_of(Evaluation(found, {}, {}, len(repeat)), questions)
    return values


def _costs(values: pd.DataFrame) -> Costs:
    """Return what the traces say of times and prices."""
    found = Costs()
    if "seconds" in values:
        p50, p95 = values["seconds"].quantile([0.5, 0.95]) * 1000
        found = replace(found, p50_ms=p50, p95_ms=p95)
    if "usd" in values:
        found = replace(found, usd=(values["usd"].mean() * 1000,) * 2)
    return found


def system_of_traces(path: Path, records: Records) -> System:
    """Return the system of a file of traces; a question's value is the mean of its repeats.

    Raises:
        FormatError: the file is malformed.
    """
    repeats = repeats_of(read_traces(path))
    tables = {
        (str(number), "1"): values_of(repeat, records).loc[[q.question_id for q in own]]
        for number, (repeat, own) in enumerate(asked_in(repeats, records.source), start=1)
    }
    rows = pd.concat(tables, names=[*PLACES, QUESTION]).reorder_levels([QUESTION, *PLACES])
    if "exact_match" in rows:
        right = rows["exact_match"].groupby(level=QUESTION).agg(list)
        found = {key: passes(own, len(tables)) for key, own in right.items()}
        rows = rows.join(pd.DataFrame.from_dict(found, orient="index"), on=QUESTION)
    values = averaged(rows)
    what = f"traces, {len(repeats)} repeats" if len(repeats) > 1 else "traces"
    _, kinds = frames_of(Evaluation({}, {}, {}, 0), records.source, records.lineage)
    return System(
        path.stem,
        what,
        values.reindex(kinds.index),
        kinds,
        records.state.as_dict(),
        queries=records.queries,
        decisions=records.decided.kept,
        traced=path,
        repeated=rows,
        costing=partial(_costs, values),
    )
