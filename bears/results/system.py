"""What one system scored, by runs or by traces, and how we know."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bears.answers.judging.chosen import judge_of
from bears.answers.judging.files import records_in
from bears.answers.judging.graded import judged, traced_rows
from bears.answers.judging.model import NAME
from bears.answers.judging.tables import write_judged
from bears.config import checkout
from bears.config.ledger.entries import PairDecision
from bears.errors import FormatError, RepliesMissing
from bears.evaluation.answers.score import MEANS, referenced, score_answers
from bears.evaluation.clusters import clusters_of
from bears.evaluation.comparison.values import CLUSTER, SOURCE, TURN, TYPE, WEIGHT, Measured
from bears.evaluation.decided import Decided, decided_in
from bears.evaluation.evaluate import Evaluation, Measure, evaluate, parse_measure
from bears.evaluation.metric import span_gold
from bears.evaluation.repeats import PLACES, Repeat, asked_in, passes, repeats_of
from bears.evaluation.timing import timing_of
from bears.evaluation.trace_measures import OF_TRACES, SHARES, trace_values
from bears.files.chunk_run import read_chunk_run
from bears.files.records import read_questions, sha256_of, stream_documents
from bears.files.shown import complain
from bears.files.spreadsheet import read_named
from bears.files.traces import read_traces
from bears.files.trec import read_table
from bears.layout import CONFIG, EVERY, LOCAL, BenchmarkFiles, pattern
from bears.llm.use import load
from bears.results.costs import Costs
from bears.results.records import Records
from bears.results.revision import WORKSPACE, Revision
from bears.results.values import BY_JUDGES, QUESTION, averaged, read_repeats
from bears.retrieval.cut import Cut
from bears.retrieval.levels import documents_of
from bears.trace import Trace, searched_once
from bears.types import ChunkRun, Document, Question, Ranking, Run, whole_documents

Judged = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Doubts:
    """What may void the numbers of a system.

    Args:
        undefined: measure to the number of questions without a value.
        ceiling: measure to the best possible mean, if below the best value.
        unmatched: passages from no document.
        unread: the texts that a model did not read to their end, by their kind.
        lost: quotations that were not found.
    """

    undefined: Mapping[str, int] = field(default_factory=dict)
    ceiling: Mapping[str, float] = field(default_factory=dict)
    unmatched: int = 0
    unread: tuple[Cut, ...] = ()
    lost: int = 0


@dataclass(frozen=True)
class System(Measured):
    """What one system scored, and how we know.

    Args:
        revision: the origin of the results; None for a file.
        decisions: of people, which the gold has.
        chunks: the run of the chunks from which ``run`` ranks documents.
        same_run: identifies the rankings; empty if it is not known.
        retrieval: the name without the generator and the judge.
        ranked: the rankings of a submission that is not a run file.
        files: a system's answers, and the judgements of them by question.
        judge: who gave them; empty if it is not known.
        traced: a file of traces; of a question's repeats, `traces` and `judged` have the first.
        repeated: the values that have repeats, by question, repeat and judgement.
        costing: finds the costs, which not every command needs.
    """

    revision: Revision | None = None
    decisions: Sequence[PairDecision] = ()
    chunks: Path | None = None
    same_run: str = ""
    retrieval: str = ""
    ranked: Run = field(default_factory=dict)
    files: tuple[Path, Path] | None = None
    judge: str = ""
    traced: Path | None = None
    repeated: pd.DataFrame = field(default_factory=pd.DataFrame)
    costing: Callable[[], Costs] = Costs
    doubts: Doubts = field(default_factory=Doubts)

    @property
    def retriever(self) -> str:
        """Return the retriever that the revision selects; empty for a file."""
        return str(self.revision.selection.get("retriever", "")) if self.revision else ""

    @cached_property
    def costs(self) -> Costs:
        """Return the times and the price, as far as they are known."""
        return self.costing()

    @cached_property
    def rankings(self) -> Mapping[str, Ranking]:
        """Return question_id to its documents, best first. Raises FormatError."""
        if self.traced:
            return {key: documents_of(trace.ranking) for key, trace in self.traces.items()}
        if self.run is None:
            return self.ranked
        return read_table(self.run, set(self.values.index), ignore_unknown=True).rankings()

    @property
    def found(self) -> ChunkRun:
        """Return question_id to what was found, best first. Raises FormatError."""
        return {key: trace.ranking for key, trace in self.traces.items()}

    @cached_property
    def traces(self) -> Mapping[str, Trace]:
        """Return question_id to what the system did. Raises FormatError.

        A retriever's run is a trace with one search. What it does not say of that is empty.
        """
        if self.chunks:
            found = read_chunk_run(self.chunks, set(self.values.index))
        else:
            found = whole_documents({} if self.traced else self.rankings)
        timing = timing_of(sha256_of(self.run)) if self.run else None
        traces = searched_once(found, timing.get("seconds_by_question", {}) if timing else {})
        written = self.files[0] if self.files else self.traced
        # Of repeats the first stays.
        for each in reversed(list(read_traces(written))) if written else ():
            key, by_run = each.question_id, traces.get(each.question_id)
            searches = each.searches or (by_run.searches if by_run else None)
            traces[key] = replace(each, searches=searches)
        return traces

    @cached_property
    def judged(self) -> Judged:
        """Return question_id to the judgement of its answer. Raises FormatError."""
        if not self.files:
            return {}
        header, lines = read_named(self.files[1])
        if QUESTION not in header:
            raise FormatError(f"{self.files[1]}: no column {QUESTION} among {header!r:.80}")
        # Of repeats the first stays.
        return {row[QUESTION]: row for _, row in reversed(list(lines))}

    @cached_property
    def questions(self) -> Sequence[Question]:
        """Return the questions with people's decisions in their gold; none if they are not here.

        Raises:
            FormatError: their file is damaged.
        """
        if not self.queries:
            return ()
        corpus = self.queries.with_name("corpus.json")
        if self.revision:
            corpus = self.revision.within(pattern(EVERY.translated), corpus.name) or corpus
        return decided_in(corpus, read_questions(self.queries), self.decisions).questions

    def defined(self, measure: str) -> list[float]:
        """Return the defined values of a measure."""
        return [float(value) for value in self.values[measure].dropna()]


def with_searches(systems: Sequence[System], asked: Collection[str] = ()) -> list[System]:
    """Return the systems, each with the measures of traces that any of them has, or are asked for.

    Rankings have those of traces with one search, as far as they are known. What a system has
    already stays.

    Raises:
        FormatError: a file of rankings or questions is damaged.
    """
    names = [*asked, *(str(name) for system in systems for name in system.values)]
    of_traces = [name for name in names if re.fullmatch(OF_TRACES, name)]
    wanted = [name for name in dict.fromkeys(of_traces) if name not in SHARES]
    return [
        replace(system, values=system.values.join(_of_one_search(system, lacking)))
        if (lacking := [name for name in wanted if name not in system.values])
        and (system.run or system.ranked)
        else system
        for system in systems
    ]


def _of_one_search(system: System, names: Collection[str]) -> pd.DataFrame:
    """Return those of these measures of traces that are known of a system's rankings."""
    questions = system.questions
    found = dict(trace_values(questions, system.traces))
    if "usd" in names and (usd := system.costs.usd) and usd[0] == usd[1]:
        # Other prices are estimates.
        found["usd"] = np.full(len(questions), usd[0] / 1000)
    values, _ = frames_of(Evaluation(found), questions)
    return values[[name for name in names if name in values]]


def frames_of(
    evaluation: Evaluation, questions: Sequence[Question], lineage: Path | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the values and the kinds by question that a `System` has.

    Args:
        lineage: of the questions, if there is one; see `clusters_of`.
    """
    ids = pd.Index([q.question_id for q in questions], dtype=object, name=QUESTION)
    kinds: dict[str, Sequence[str]] = {
        TYPE: [q.question_type for q in questions],
        SOURCE: [q.source_dataset for q in questions],
        CLUSTER: clusters_of(questions, lineage).astype(str).tolist(),
    }
    if any(q.turns for q in questions):
        kinds[TURN] = [q.turn for q in questions]
    if any(q.weight > 1 for q in questions):
        kinds[WEIGHT] = [str(q.weight) for q in questions]
    values = {name: np.asarray(column, float) for name, column in evaluation.values.items()}
    return pd.DataFrame(values, index=ids), pd.DataFrame(kinds, index=ids)


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
    found = evaluate(ranked, gold, measures, covered, chunks)
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
        for name, value in MEANS.items():
            column = np.array([getattr(score, value) for score in scores], float)
            found |= {} if np.isnan(column).all() else {name: column}
    if any(each.searches is not None for each in repeat.values()):
        measures = list(map(parse_measure, dict.fromkeys(records.evaluate.measures)))
        documents = stream_documents(records.corpus)
        found |= evaluation_of(repeat, records.decided, documents, measures).values
    values, _ = frames_of(Evaluation(found), questions)
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


def _judged(path: Path, records: Records) -> tuple[str, Path | None]:
    """Return the selected judge's name, and a table of its verdicts on a file of traces.

    Without a judge, or before a model has judged all that it should, there is no table.
    """
    config = Revision(WORKSPACE).config if CONFIG.is_file() else {}
    judge = judge_of(config["judge"]) if "judge" in config else None
    if judge is None:
        return "", None
    language, paths = records.benchmark.language, records_in(records.folder, path)
    rows = traced_rows(path, records.questions, paths, language, judge, records.nuggets)
    known = load(BenchmarkFiles(records.benchmark.name).replies("verdicts"), NAME)
    try:
        rows = judged(rows, judge, language, known)
    except RepliesMissing:
        return "", None
    table = checkout() / LOCAL / "judged" / f"{sha256_of(path)[:12]}.csv"
    write_judged(table, rows)
    return str(config["judge"]["name"]), table


def system_of_traces(path: Path, records: Records) -> System:
    """Return the system of a file of traces; a question's value is the mean of its repeats.

    Raises:
        FormatError: the file is malformed.
    """
    known, every = {q.question_id for q in records.source}, list(read_traces(path))
    traces = [trace for trace in every if trace.question_id in known]
    if not traces:
        raise FormatError(f"{path} has no trace of a question of {records.benchmark.name}")
    repeats = repeats_of(traces)
    tables = {
        (str(number), "1"): values_of(repeat, records).loc[[q.question_id for q in own]]
        for number, (repeat, own) in enumerate(asked_in(repeats, records.source), start=1)
    }
    rows = pd.concat(tables, names=[*PLACES, QUESTION]).reorder_levels([QUESTION, *PLACES])
    if "exact_match" in rows:
        right = rows["exact_match"].groupby(level=QUESTION).agg(list)
        found = {key: passes(own, len(tables)) for key, own in right.items()}
        rows = rows.join(pd.DataFrame.from_dict(found, orient="index"), on=QUESTION)
    judge, table = _judged(path, records)
    if (left := len(every) - len(traces)) and not table:
        complain(f"warning: {left} traces are not of this benchmark's questions, and are skipped")
    if table:
        judged, _ = read_repeats(table, chosen=BY_JUDGES, unjudged=True)
        rows = rows.drop(columns=judged.columns, errors="ignore").join(judged, how="outer")
    values = averaged(rows)
    what = f"traces, {len(repeats)} repeats" if len(repeats) > 1 else "traces"
    _, kinds = frames_of(Evaluation({}), records.source, records.lineage)
    return System(
        path.stem,
        what,
        values.reindex(kinds.index),
        kinds,
        records.state.as_dict(),
        queries=records.queries,
        decisions=records.decided.kept,
        files=(path, table) if table else None,
        judge=judge,
        traced=path,
        repeated=rows,
        costing=partial(_costs, values),
    )
