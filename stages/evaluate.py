"""evaluate: run and gold → metrics, per-question results, plots."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from bears.configuration import Config
from bears.evaluation.evaluate import Evaluation, evaluate, summarise, tie_range
from bears.evaluation.measure import parse
from bears.evaluation.table import table
from bears.formats.digest import digest_files
from bears.formats.records import read_json, read_questions, write_json, write_text
from bears.formats.trec import read_run
from bears.pipeline import Paths, exit_with
from bears.types import Question, Run


def main(config: Config, paths: Paths) -> None:
    """Measure the run over all questions of the benchmark."""
    questions = read_questions(paths["queries"])
    run = read_run(paths["run"], {question.question_id for question in questions})
    names = list(dict.fromkeys(config["evaluate"]["measures"]))
    evaluation = _evaluate(run, questions, names)
    results = _results(evaluation, questions)
    write_json(paths["metrics"], results)
    _write_questions(paths["questions"], evaluation, questions)
    _write_bars(paths["bars"], results["all"], names)
    _write_curve(paths["curve"], run, questions, config["evaluate"]["curve"])
    print(table(results))
    print(_latency(paths["timing"], paths["run"]))


def _evaluate(run: Run, questions: Sequence[Question], names: Iterable[str]) -> Evaluation:
    gold = {q.question_id: dict.fromkeys(q.gold_doc_ids, 1) for q in questions}
    return evaluate(run, gold, [parse(name) for name in names])


def _results(evaluation: Evaluation, questions: Sequence[Question]) -> dict[str, Any]:
    """Means rounded to what is worth comparing, over all questions and over each group."""

    def grouped(key: Callable[[Question], str]) -> dict[str, Any]:
        groups: dict[str, list[str]] = {}
        for question in questions:
            groups.setdefault(key(question), []).append(question.question_id)
        return {name: summarise(evaluation, groups[name]) for name in sorted(groups)}

    return {
        "all": {
            **summarise(evaluation, [question.question_id for question in questions]),
            "answered": evaluation.n_answered,
        },
        "by_type": grouped(lambda question: question.question_type),
        "by_source": grouped(lambda question: question.source_dataset),
        "tie_range": tie_range(evaluation),
    }


def _write_questions(path: Path, evaluation: Evaluation, questions: Sequence[Question]) -> None:
    header = ["question_id", "source_dataset", "question_type", "n_gold", *evaluation.measures]
    rows = [
        [
            question.question_id,
            question.source_dataset,
            question.question_type,
            len(question.gold_doc_ids),
            *evaluation.values[question.question_id].values(),
        ]
        for question in questions
    ]
    _write_csv(path, header, rows)


def _write_bars(path: Path, means: dict[str, Any], names: Sequence[str]) -> None:
    _write_csv(path, ["measure", "value"], [[name, means[name]] for name in names])


def _write_curve(path: Path, run: Run, questions: Sequence[Question], ks: Sequence[int]) -> None:
    evaluation = _evaluate(run, questions, [f"recall@{k}" for k in ks])
    means = summarise(evaluation, [question.question_id for question in questions])
    _write_csv(path, ["k", "recall"], [[k, means[f"recall@{k}"]] for k in ks])


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    write_text(path, text.getvalue())


def _latency(timing: Path, run: Path) -> str:
    """The timing of this very run, or a word that there is none."""
    if timing.exists():
        measured = read_json(timing)
        if measured["run_sha256"] == digest_files([run])[run.name]:
            return "latency " + json.dumps({k: v for k, v in measured.items() if k[0] in "pl"})
    return "latency not measured: the run came from the cache (measure it: dvc repro -sf retrieve)"


if __name__ == "__main__":
    exit_with("evaluate", main)
