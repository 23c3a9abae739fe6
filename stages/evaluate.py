"""evaluate: run and gold → metrics, per-question results, plots."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np

from bears.config.ledger.entries import Judgements
from bears.config.pipeline import Paths, exit_with
from bears.config.shape import BenchmarkIdentity, Choice, Source, source_of
from bears.config.typed import build
from bears.evaluation.clusters import clusters_of
from bears.evaluation.decided import Decided, decided_in, judged_share
from bears.evaluation.evaluate import as_drawn, gold_of, parse_measure, results_of, summarize
from bears.evaluation.evaluate import evaluate as scores
from bears.evaluation.metric import SpanRankings, span_gold
from bears.evaluation.results import table, write_plot, write_values
from bears.evaluation.settings import EvaluationSettings, check_found, depth_of
from bears.evaluation.timing import latency
from bears.files.benchmark_state import benchmark_state
from bears.files.chunk_run import read_chunk_run
from bears.files.manifest import inputs_of
from bears.files.records import read_questions, sha256_of, stream_documents, write_json
from bears.files.rewritten import read_rewritten
from bears.files.shown import complain
from bears.files.trec import RunTable
from bears.layout import chunks_beside
from bears.retrieval.chunking import Chunking
from bears.retrieval.outside.matching import UNMATCHED
from bears.retrieval.retriever import RetrieveSettings
from bears.types import ChunkRun, Question, whole_documents

SHOWN = 12
"""Hexadecimal digits of a digest in the metrics."""


def main(
    paths: Paths,
    *,
    benchmark: BenchmarkIdentity,
    chunking: Choice,
    evaluate: EvaluationSettings,
    judgements: Judgements,
    retrieve: RetrieveSettings,
    sources: dict[str, Source],
) -> None:
    """Measure the run over all questions of the benchmark."""
    source = read_questions(paths["queries"])
    decided = decided_in(paths["corpus"], source, judgements)
    questions, gold = decided.questions, decided.gold
    # How questions were drawn does not depend on what people said later.
    clusters = clusters_of(source, paths.get("lineage"))
    searched = [one.search for one in read_rewritten(paths["rewritten"], questions).values()]
    settings, cutting = evaluate, build(chunking, "chunking")
    run = settings.read(paths["run"], gold)
    if retrieve.score_threshold is None:
        check_found(run, list(compress(questions, searched)))
    depth = depth_of(run, retrieve.depth)
    covered, chunks = _chunks(settings, cutting, paths, questions)
    measures, beyond = settings.within(depth, spans=covered is not None)
    evaluations = {"": scores(run, gold, measures, covered, chunks)}
    # A run from elsewhere is of no index.
    index = {name: own for name, own in inputs_of(paths["run"]).items() if name == "index"}
    measured = {"run": sha256_of(paths["run"]), **index}
    # Plots and metrics call the retriever by the name of its run file.
    retriever = paths["run"].stem
    sizes, files = (source_of(sources), len(questions)), (paths["queries"], paths["corpus"])
    state = benchmark_state(benchmark.name, *sizes, *files, decided.facts).as_dict()
    results: dict[str, Any] = {"benchmark": state, "retriever": retriever, "measured": measured}
    results |= results_of(evaluations[""], questions, measures, clusters)
    results |= _doubts(run, searched.count(False), decided)
    results |= judged_share(run, decided.judged)
    if decided.kept:
        beside = scores(run, gold_of(source), measures, *_chunks(settings, cutting, paths, source))
        results["source"] = summarize(as_drawn(beside, source, None)[0])
        main = {name: each for name, each in beside.values.items() if name == settings.main}
        evaluations["source "] = replace(beside, values=main)
    if any(question.group for question in questions):
        within = scores(settings.read(paths["within"], gold), gold, measures)
        results["within"] = results_of(within, questions, measures, clusters)
        evaluations["within "] = within
        measured["within"] = sha256_of(paths["within"])
    # Short digests, since `dvc metrics diff` prints whatever changed in full.
    results["measured"] = {name: full[:SHOWN] for name, full in measured.items()}
    write_json(paths["metrics"], results)
    write_values(paths["questions"], evaluations, questions, clusters)
    bars, of = {measure.name: measure for measure in measures}, (retriever, questions, clusters)
    write_plot(paths["bars"], ("measure", "value"), bars, evaluations[""], *of)
    curve = {k: parse_measure(f"recall@{k}") for k in settings.curve if k <= depth}
    recalls = scores(run, gold, list(curve.values()))
    write_plot(paths["curve"], ("k", "recall"), curve, recalls, *of)
    print(table(results))
    if beyond:
        print(f"not measured: {', '.join(beyond)}, since {_why(depth, covered)}")
    print(latency(paths["timing"], measured["run"]))


def _chunks(
    settings: EvaluationSettings, cutting: Chunking, paths: Paths, questions: Sequence[Question]
) -> tuple[SpanRankings | None, ChunkRun | None]:
    """Return what the chunks beside the run cover of the gold spans, and the chunks.

    The first is None without any span, the second if no measure reads it or it is unknown.
    """
    gold = span_gold(questions, stream_documents(paths["corpus"]), cutting.ranges)
    sources = any(parse_measure(name).metric.reads == "sources" for name in settings.measures)
    if not (gold or sources):
        return None, None
    path = chunks_beside(paths["run"])
    if path.is_file():
        chunks = read_chunk_run(path, {each.question_id for each in questions})
    else:  # A run from elsewhere has none.
        chunks = whole_documents(settings.read(paths["run"], gold_of(questions)).rankings())
    return gold.rankings(chunks) if gold else None, chunks


def _why(depth: float, covered: SpanRankings | None) -> str:
    without = "no question has gold spans" if covered is None else ""
    return " and ".join(filter(None, [f"retrieve.depth is {depth}", without]))


def _doubts(run: RunTable, not_searched: int, decided: Decided) -> dict[str, Any]:
    """Print what is doubtful about a run, and return it for the metrics."""
    if not_searched:
        print(f"not searched: {not_searched} questions, by the rewriter")
    for remark in run.remarks:
        complain(f"evaluate: warning: {remark}")
    for one in decided.gone:
        complain(
            f"evaluate: warning: the ledger judges {one.doc_id} for {one.question_id}, and the "
            "benchmark does not have both; the decision is left out"
        )
    unmatched = np.array([name.startswith(UNMATCHED) for name in run.doc_ids], bool)
    doubts = {
        "unmatched_passages": int(unmatched[run.documents].sum()) if len(unmatched) else 0,
        "not_searched": not_searched,
        "warnings": list(run.remarks),
    }
    return {name: value for name, value in doubts.items() if value}


if __name__ == "__main__":
    exit_with("evaluate", main)
