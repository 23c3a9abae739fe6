"""The scores of traces: of agents, and of systems in production."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from bears.evaluation.answers.references import referenced
from bears.evaluation.answers.score import score_answers
from bears.evaluation.decided import Decided
from bears.evaluation.evaluate import Evaluation, evaluate
from bears.evaluation.measure import Measure, parse_measure
from bears.evaluation.repeats import note
from bears.evaluation.spans import span_gold
from bears.evaluation.trace_measures import trace_values
from bears.files.records import stream_documents
from bears.files.traces import read_traces
from bears.results.costs import Costs
from bears.results.records import Records
from bears.results.system import System, frames_of
from bears.retrieval.levels import documents_of
from bears.trace import Trace
from bears.types import Document

ENDING = ".traces.jsonl"
"""Of the name of a file of traces."""
Repeat = Mapping[str, Trace]
"""question_id to trace, of one run of a system."""


def repeats_in(path: Path) -> list[Repeat]:
    """Return the repeats of the questions in a file of traces: the n-th has the n-th of each.

    Raises:
        FormatError: the file is not one of traces.
    """
    traces: defaultdict[str, list[Trace]] = defaultdict(list)
    for trace in read_traces(path):
        traces[trace.question_id].append(trace)
    most = max(map(len, traces.values()), default=0)
    return [
        {key: own[number] for key, own in traces.items() if number < len(own)}
        for number in range(most)
    ]


def evaluation_of(
    traces: Repeat,
    decided: Decided,
    documents: Iterable[Document],
    measures: Sequence[Measure],
) -> Evaluation:
    """Measure the rankings of traces, in which passages are in the order of their first place.

    A question without a trace counts as an empty ranking, and one whose trace does not say what was
    searched is undefined.
    """
    gold = decided.gold
    chunks = {key: each.ranking for key, each in traces.items() if each.searches is not None}
    spans = span_gold(decided.questions, documents)
    covered = spans.rankings(chunks) if spans else None
    ranked = {key: documents_of(hits, len(hits)) for key, hits in chunks.items()}
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
    repeats = repeats_in(path)
    tables = [values_of(repeat, records) for repeat in repeats]
    # A question without a trace counts once, in the first repeat.
    tables[1:] = [
        table[table.index.isin(repeat)]
        for table, repeat in zip(tables[1:], repeats[1:], strict=True)
    ]
    values = pd.concat(tables).groupby(level=0, sort=False).mean()
    what, main = "traces", records.evaluate.main
    if len(repeats) > 1:
        what = f"traces, {len(repeats)} repeats"
    if all(main in table for table in tables):
        columns = [table[main].reindex(values.index) for table in tables]
        what = ", ".join(filter(None, (what, note(np.column_stack(columns), main))))
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
        costing=partial(_costs, values),
    )
