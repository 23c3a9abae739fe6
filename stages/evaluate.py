"""evaluate: run and gold → metrics, per-question results, plots."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import ConfigDict, Field

from bears.configuration import STRICT, Config
from bears.configuration import parse as parse_settings
from bears.configuration.pipeline import Paths, exit_with
from bears.errors import ConfigurationError
from bears.evaluation.evaluate import (
    Evaluation,
    ceilings,
    evaluate,
    gold_of,
    intervals,
    summarise,
    tie_range,
    undefined,
)
from bears.evaluation.locate import Gold
from bears.evaluation.measure import Measure, parse
from bears.evaluation.table import table
from bears.formats.digest import sha256_of
from bears.formats.records import read_json, read_questions, write_csv, write_json
from bears.formats.run_table import RunTable
from bears.formats.trec import read_table
from bears.types import Question


@dataclass(frozen=True)
class Settings:
    """What is measured, as ``evaluate`` in the configuration has it.

    Args:
        measures: names as `bears.evaluation.measure` knows them.
        curve: the k of the recall curve.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    measures: Annotated[list[str], Field(min_length=1)]
    curve: list[Annotated[int, Field(gt=0)]]


def main(config: Config, paths: Paths) -> None:
    """Measure the run over all questions of the benchmark."""
    questions = read_questions(paths["queries"])
    gold = gold_of(questions)
    settings = parse_settings(Settings, config["evaluate"], "evaluate")
    run = read_table(paths["run"], gold)
    depth = _depth(run, config["retrieve"]["depth"])
    asked = [parse(name) for name in dict.fromkeys(settings.measures)]
    measures = [measure for measure in asked if not measure.k or measure.k <= depth]
    if not measures:
        raise ConfigurationError(
            f"evaluate.measures has {', '.join(settings.measures)}, all of them deeper than "
            f"retrieve.depth, which is {depth}"
        )
    evaluation = evaluate(run, gold, measures)
    results = _results(evaluation, questions, measures)
    columns = {"": evaluation}
    if any(question.group for question in questions):
        within = evaluate(read_table(paths["within"], gold), gold, measures)
        results["within"] = _results(within, questions, measures)
        columns["within "] = within
    write_json(paths["metrics"], results)
    _write_questions(paths["questions"], columns, questions)
    _write_bars(paths["bars"], results["all"], evaluation.measures)
    _write_curve(paths["curve"], run, gold, [k for k in settings.curve if k <= depth])
    print(table(results))
    if beyond := [measure.name for measure in asked if measure not in measures]:
        print(f"not measured: {', '.join(beyond)}, since retrieve.depth is {depth}")
    print(_latency(paths["timing"], paths["run"]))


def _depth(run: RunTable, depth: int) -> float:
    """How many documents a question the run was cut at; no end where it is deeper than ours are."""
    return depth if np.diff(run.starts).max(initial=0) <= depth else math.inf


def _results(
    evaluation: Evaluation, questions: Sequence[Question], measures: Sequence[Measure]
) -> dict[str, Any]:
    """Means over all questions and over each group of them, and what to know of those means."""

    def grouped(key: Callable[[Question], str]) -> dict[str, Any]:
        groups: dict[str, list[str]] = {}
        for question in questions:
            groups.setdefault(key(question), []).append(question.question_id)
        return {name: summarise(evaluation, groups[name]) for name in sorted(groups)}

    results = {
        "all": {
            **summarise(evaluation, [question.question_id for question in questions]),
            "answered": evaluation.n_answered,
        },
        "by_type": grouped(lambda question: question.question_type),
        "by_source": grouped(lambda question: question.source_dataset),
        "tie_range": tie_range(evaluation),
        "ceiling": ceilings(gold_of(questions), measures),
        "interval_95": intervals(evaluation, measures),
    }
    if counts := undefined(evaluation):
        results["undefined"] = counts
    return results


def _write_questions(
    path: Path, evaluations: Mapping[str, Evaluation], questions: Sequence[Question]
) -> None:
    header = ["question_id", "source_dataset", "question_type", "n_gold"]
    for prefix, evaluation in evaluations.items():
        header += [f"{prefix}{name}" for name in evaluation.measures]
    rows = [
        [
            question.question_id,
            question.source_dataset,
            question.question_type,
            len(question.gold_doc_ids),
            *chain.from_iterable(
                evaluation.values[question.question_id].values()
                for evaluation in evaluations.values()
            ),
        ]
        for question in questions
    ]
    write_csv(path, header, rows)


def _write_bars(path: Path, means: dict[str, Any], names: Sequence[str]) -> None:
    write_csv(path, ["measure", "value"], [[name, means[name]] for name in names])


def _write_curve(path: Path, run: RunTable, gold: Gold, ks: Sequence[int]) -> None:
    evaluation = evaluate(run, gold, [parse(f"recall@{k}") for k in ks])
    means = summarise(evaluation, list(gold))
    write_csv(path, ["k", "recall"], [[k, means[f"recall@{k}"]] for k in ks])


def _latency(timing: Path, run: Path) -> str:
    """The timing of this very run, or a word that there is none."""
    if timing.exists():
        measured = read_json(timing)
        if measured["run_sha256"] == sha256_of(run):
            stages = measured["stages_ms"].items()
            spent = ", ".join(f"{stage} {ms['p50']:.2f}/{ms['p95']:.2f}" for stage, ms in stages)
            return (
                f"latency: ms a question, p50/p95: {spent}; index loaded in {measured['load_s']} s"
            )
    return (
        "latency not measured: this run has no timing here (measure ours: dvc repro -sf retrieve)"
    )


if __name__ == "__main__":
    exit_with("evaluate", main)
