"""evaluate: run and gold → metrics, per-question results, plots."""

import sys
from collections.abc import Sequence
from itertools import compress
from pathlib import Path
from typing import Any

from bears.config import Config
from bears.config import parse as parse_settings
from bears.config.ledger.entries import judgements_of
from bears.config.pipeline import Paths, exit_with
from bears.evaluation.audited import Audited, audited, evaluate_audited, judged_share
from bears.evaluation.evaluate import evaluate, gold_of, summarise
from bears.evaluation.measure import parse_measure
from bears.evaluation.results import results_of, write_plot, write_values
from bears.evaluation.settings import EvaluationSettings, check_found, depth_of
from bears.evaluation.table import table
from bears.evaluation.timing import latency
from bears.files.benchmark_state import benchmark_state
from bears.files.digest import sha256_of
from bears.files.manifest import manifest_of, read_manifest
from bears.files.records import read_questions, stream_documents, write_json
from bears.files.rewritten import read_rewritten
from bears.files.run_table import RunTable
from bears.files.shown import complain
from bears.types import Question

SHOWN = 12
"""Hexadecimal digits of a digest that the metrics tell."""


def main(config: Config, paths: Paths) -> None:
    """Measure the run over all questions of the benchmark.

    A run from elsewhere may have questions that the benchmark lacks: --ignore-unknown leaves them
    out (in configuration: evaluate.ignore_unknown=true) and says how many they are.
    """
    questions = read_questions(paths["queries"])
    searched = [one.search for one in read_rewritten(paths["rewritten"], questions).values()]
    gold = gold_of(questions)
    settings = parse_settings(EvaluationSettings, config["evaluate"], "evaluate")
    run = settings.read(paths["run"], gold)
    if config["retrieve"]["score_threshold"] is None:
        check_found(run, list(compress(questions, searched)))
    depth = depth_of(run, config["retrieve"]["depth"])
    measures, beyond = settings.within(depth)
    evaluations = {"": evaluate(run, gold, measures)}
    name, sources = config["benchmark"]["name"], config["sources"]
    files = paths["queries"], paths["corpus"]
    state = benchmark_state(name, sources, len(questions), *files)
    digest = sha256_of(paths["run"])
    measured = {"run": digest, **_index_of(paths["run"])}
    # The plots and the metrics call the retriever as its run file is called.
    retriever = paths["run"].stem
    results: dict[str, Any] = {"benchmark": state.told(), "retriever": retriever}
    results["measured"] = measured
    results |= results_of(evaluations[""], questions, measures)
    results |= _doubts(run, searched.count(False))
    decided = _decided(config, paths["corpus"], questions)
    results |= judged_share(run, decided.judged)
    if decided.kept:
        evaluations["audited "] = evaluate_audited(run, decided.gold, measures)
        results["audited"] = summarise(evaluations["audited "])
        results["decisions"] = decided.counts
    if any(question.group for question in questions):
        within = evaluate(settings.read(paths["within"], gold), gold, measures)
        results["within"] = results_of(within, questions, measures)
        evaluations["within "] = within
        measured["within"] = sha256_of(paths["within"])
    # The beginnings: `dvc metrics diff` shows what changed of them in columns as wide as they are.
    results["measured"] = {name: full[:SHOWN] for name, full in measured.items()}
    write_json(paths["metrics"], results)
    write_values(paths["questions"], evaluations, questions)
    bars = {measure.name: measure for measure in measures}
    write_plot(paths["bars"], ("measure", "value"), bars, evaluations[""], retriever)
    curve = {k: parse_measure(f"recall@{k}") for k in settings.curve if k <= depth}
    recalls = evaluate(run, gold, list(curve.values()))
    write_plot(paths["curve"], ("k", "recall"), curve, recalls, retriever)
    print(table(results))
    if beyond:
        print(f"not measured: {', '.join(beyond)}, since retrieve.depth is {depth}")
    print(latency(paths["timing"], digest))


def _doubts(run: RunTable, not_searched: int) -> dict[str, Any]:
    """What the metrics and the terminal say of a run that may not be what it seems."""
    if run.unknown:
        print(f"ignored: {run.unknown} questions that the benchmark lacks")
    if not_searched:
        print(f"not searched: {not_searched} questions, by the rewriter")
    for remark in run.remarks:
        complain(f"evaluate: warning: {remark}")
    doubts = {
        "not_searched": not_searched,
        "ignored_questions": run.unknown,
        "warnings": list(run.remarks),
    }
    return {name: value for name, value in doubts.items() if value}


def _decided(config: Config, corpus: Path, questions: Sequence[Question]) -> Audited:
    """What persons decided of the benchmark; what of it names no record any more is told."""
    judgements = judgements_of(config["ledger"]["judgements"])
    # Only decisions need to know the documents, and a corpus may be large.
    documents = stream_documents(corpus) if judgements else ()
    found = audited(questions, {document.doc_id for document in documents}, judgements)
    for one in found.gone:
        complain(
            f"evaluate: warning: the ledger judges {one.doc_id} for {one.question_id}, and the "
            "benchmark does not have both; the decision is left out"
        )
    return found


def _index_of(run: Path) -> dict[str, str]:
    """The sha256 of the index's manifest under ``index``, where the run's own tells it."""
    manifest = manifest_of(run)
    made_from = read_manifest(manifest).made_from if manifest else {}
    return {name: made_from[name] for name in ("index",) if name in made_from}


if __name__ == "__main__":
    FLAG, SETTING = "--ignore-unknown", "evaluate.ignore_unknown=true"
    sys.argv = [SETTING if word == FLAG else word for word in sys.argv]
    exit_with("evaluate", main)
