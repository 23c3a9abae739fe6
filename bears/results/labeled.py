"""What people's labels say of systems that a judge judged; it leads, and the judge is beside it."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from bears.answers.judging.labelable import (
    LINEAR,
    Grades,
    Labelable,
    answer_pair,
    document_pair,
    grades_in,
    labeled_of,
    verdict_pair,
)
from bears.config.ledger.entries import LabelDraw
from bears.config.ledger.update import OpenLedger
from bears.evaluation.comparison.result import SAME, UNCHANGED, by_interval
from bears.files.intake.yaml_text import table_of
from bears.layout import ledger_of
from bears.results.records import Records
from bears.results.system import System
from bears.results.values import PASS_RATE, QUESTION

LABELED: Mapping[str, str] = table_of(__file__)
"""What people label, to the measure that it corrects if none is named."""
GRADES = re.compile(r"graded_(precision|dcg)@\d+")
BY_JUDGE = ("difference", "low", "high", "p", "p_holm", "verdict")
"""What a judge says of a pair, which is kept beside what people say."""


def labels_of(systems: Sequence[System]) -> Sequence[LabelDraw]:
    """Return people's labels of answers and documents of a benchmark. Raises FormatError."""
    names = {str(each.benchmark.get("name", "")) for each in systems if each.judged}
    return OpenLedger(ledger_of(min(names))).decisions.labels if len(names) == 1 else ()


def labelable_of(
    measure: str,
    systems: Sequence[System],
    grades: Grades | None = None,
    records: Records | None = None,
) -> Labelable | None:
    """Return what people label to correct a measure of one system, or the difference of two.

    None if the systems have nothing of the kind.

    Args:
        grades: of documents; default: those of the judge.
        records: with the texts to show.
    """
    if measure == PASS_RATE:
        return verdict_pair(*(each.judged for each in systems)) if len(systems) == 2 else None
    for what, measures in LINEAR.items():
        if measure in measures:
            return answer_pair(what, measure, *(*(each.judged for each in systems), {})[:2])
    if not GRADES.fullmatch(measure):
        return None
    asked = dict.fromkeys(map(str, systems[0].values.index), "")
    if records:
        asked = {each.question_id: each.asked for each in records.questions}
    first, second = (*(each.rankings for each in systems), {})[:2]
    known, corpus = grades or grades_of(systems), records.corpus if records else Path()
    return document_pair(first, second, measure.removeprefix("graded_"), known, asked, corpus)


def grades_of(systems: Sequence[System]) -> dict[str, dict[str, int]]:
    """Return question_id to doc_id to the grade that the judge of any of the systems gave."""
    known: dict[str, dict[str, int]] = {}
    for system in systems:
        for question, own in grades_in(system.judged).items():
            known.setdefault(question, {}).update(own)
    return known


def estimate_of(
    measure: str, systems: Sequence[System], labels: Sequence[LabelDraw], level: float = 0.95
) -> dict[str, Any] | None:
    """Return the measure of one system, or the difference of two, as people's labels correct it.

    Returns:
        The fields of `Labelable.estimates` for such questions, and ``labels``, how many there are,
        ``of`` how many items; None with too few labels.
    """
    known = labels and all(each.judged for each in systems)
    # A ledger knows a pair in the order in which it was labeled.
    for turn in (1, -1)[: len(systems)] if known else ():
        pair = labelable_of(measure, systems[::turn])
        if pair and (draws := labeled_of(pair.draws(labels))):
            found = pair.estimates(draws, level).get("such")
            ends = zip(("value", "low", "high"), ("value", *("low", "high")[::turn]), strict=True)
            turned = {name: turn * found[end] for name, end in ends} if found else {}
            return found and {**found, **turned, "labels": len(draws), "of": len(pair.names)}
    return None


def by_people(
    results: Mapping[str, Any],
    files: Mapping[str, Path],
    asked: Sequence[str],
    labels: Sequence[LabelDraw],
) -> dict[str, Any]:
    """Return measure to what people's labels say of a judged system, where there are any.

    Args:
        results: of the judge, as in metrics/answers.json.
        files: its ``run``, the table of its judged ``questions``, and its ``answers``, if any.
        asked: the ids of the questions.
    """
    system = System(
        results["retriever"],
        results["judge"],
        pd.DataFrame(index=pd.Index(list(asked), name=QUESTION)),
        benchmark=results["benchmark"],
        run=files["run"],
        files=(files.get("answers", files["run"]), files["questions"]),
    )
    found = {name: estimate_of(name, [system], labels) for name in results["all"]}
    return {name: one for name, one in found.items() if one}


def lead(result: dict[str, Any], systems: Sequence[System]) -> dict[str, Any]:
    """Return a comparison in which people's labels lead, where there are any.

    A pair that people labeled has their difference, its interval and the verdict that follows from
    it, ``labels``, ``of`` and ``after_100``, and below ``judge`` what the judge says. So has a
    system its mean.
    """
    labels, own = labels_of(systems), {each.name: each for each in systems}

    def led(row: Mapping[str, Any], measure: str, *names: str) -> dict[str, Any]:
        return _led(row, estimate_of(measure, [own[name] for name in names], labels))

    pairs = [led(row, row["measure"], row["a"], row["b"]) for row in result["pairs"]]
    measured = [
        {**each, "measures": {m: led(row, m, each["name"]) for m, row in each["measures"].items()}}
        for each in result["systems"]
    ]
    return {**result, "pairs": pairs, "systems": measured}


def gated(
    row: Mapping[str, Any],
    systems: Sequence[System],
    labels: Sequence[LabelDraw],
    allow: float | None,
) -> dict[str, Any]:
    """Return the gate's row of a measure, with the verdict of people's labels if there are any.

    Args:
        row: of `judged`.
        systems: candidate and base.
        allow: the loss that is allowed.
    """
    # Two tails of 5 % each: the gate tests one side.
    found = estimate_of(row["measure"], systems, labels, level=0.9)
    if not found or row["verdict"] == UNCHANGED:
        return {**row}
    led = _led(row, found)
    half = (led["high"] - led["low"]) / 2
    return {**led, "verdict": by_interval(led, allow), "smallest_difference": half}


def _led(row: Mapping[str, Any], found: Mapping[str, Any] | None) -> dict[str, Any]:
    if not found:
        return {**row}
    ends = {"low": found["low"], "high": found["high"]}
    ends |= {key: found[key] for key in ("labels", "of", "after_100")}
    if "difference" not in row:
        beside = {key: row[key] for key in ("mean", "low", "high")}
        return {**row, "mean": found["value"], **ends, "judge": beside}
    verdict = SAME
    if found["low"] > 0 or found["high"] < 0:
        verdict = f"{row['a'] if found['value'] > 0 else row['b']} better"
    said = {"difference": found["value"], **ends, "p": None, "p_holm": None, "verdict": verdict}
    beside = {key: row[key] for key in BY_JUDGE}
    return {**row, **said, "questions_needed": None, "judge": beside}
