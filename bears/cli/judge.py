"""``python -m bears judge``: judges of answers, and how far each is to be believed."""

import argparse
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.answers.judging.bench import majority
from bears.answers.judging.calibration import JudgedAnswer, calibrate
from bears.answers.judging.files import read_hearing, records_in
from bears.answers.judging.labels import JudgedAlready, LabelledAnswer, read_labels
from bears.answers.judging.ruling import Case
from bears.cli.selection import language_of, results_of
from bears.cli.verdicts import add_asking, read_judges, verdicts
from bears.files.records import write_json
from bears.files.spreadsheet import write_csv
from bears.language.scripts import script_share
from bears.language.tags import SCRIPTS, check_tag

COLUMNS = ("n", "human", "judge", "agreement", "kappa", "tpr", "tnr", "corrected")
LANGUAGES = ("en", "zh", "ko", "ja")
"""Whose normal forms are tried, where no language is named, by the scripts of the answers."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The subcommands of ``judge``."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    calibrating = commands.add_parser(
        "calibrate",
        help="measure a judge against people's labels",
        description="Compare the verdicts of a judge with people's, system by system: agreement, "
        "kappa, the shares of right and of wrong answers that it recognises, and the pass rate "
        "corrected for its errors, each with its 95 % interval. Rows that have no label yet are "
        "judged too, and count in the corrected rate: it is what people would pass of all.",
    )
    calibrating.add_argument(
        "labels",
        metavar="LABELS",
        type=Path,
        help="CSV, JSON Lines or a JSON array: system, question_id, label, and question, "
        "gold_answers, answer unless --benchmark has them; or EVOUNA's file",
    )
    calibrating.add_argument(
        "--language",
        default="",
        help="BCP 47 tag of the answers; default: that of the records, or by their script",
    )
    calibrating.add_argument(
        "--benchmark",
        default="",
        help="whose answers are labelled, those of data/BENCHMARK/answers/SYSTEM.jsonl",
    )
    calibrating.add_argument("--out", type=Path, help="a JSON file for the figures")
    calibrating.add_argument(
        "--disagreements", type=Path, help="a CSV file for the answers on which they differ"
    )
    add_asking(calibrating)
    calibrating.set_defaults(run=_calibrate)


def _calibrate(arguments: argparse.Namespace) -> None:
    judges = read_judges(arguments.judge, arguments.overrides)
    judged_already, language = None, arguments.language
    if arguments.benchmark:
        judged_already, language = _answers_of(arguments.benchmark, language)
    answers = read_labels(arguments.labels, judged_already)
    language = language or _language_of(answers)
    check_tag(language, "--language")
    cases = [each.case() for each in answers]
    memory = arguments.benchmark or arguments.labels.stem
    rulings = verdicts(judges, cases, language, memory, arguments.yes).values()
    judged = [
        JudgedAnswer(each, majority(column).verdict)
        for each, *column in zip(answers, *rulings, strict=True)
    ]
    systems = calibrate(judged)
    if arguments.out:
        found = {"judge": arguments.judge, "language": language, "systems": systems}
        write_json(arguments.out, found)
    if arguments.disagreements:
        _write_disagreements(arguments.disagreements, judged)
    print(_table(systems))
    print(
        f"\nanswers compared as {language} (--language names another); {arguments.judge} and "
        f"people differ on {sum(each.disagrees for each in judged):,} answers"
    )


def _answers_of(benchmark: str, language: str) -> tuple[JudgedAlready, str]:
    """Where the answers of a benchmark's systems are found, and their language."""
    folder, _ = results_of(benchmark, None)
    language = language_of(folder, language)

    @cache
    def cases(system: str) -> dict[str, Case]:
        answers = Path("data") / benchmark / "answers" / f"{system}.jsonl"
        hearing = read_hearing(records_in(folder, answers), language)
        return {case.question_id: case for case in hearing.cases}

    return lambda system, question_id: cases(system).get(question_id), language


def _language_of(answers: Sequence[LabelledAnswer]) -> str:
    text = "\n".join(answer.question for answer in answers[:1000])
    return max(LANGUAGES, key=lambda tag: script_share(text, SCRIPTS[tag]))


def _table(systems: dict[str, dict[str, Any]]) -> str:
    rows = []
    for system, found in systems.items():
        ends = [found["interval_95"].get(name) for name in COLUMNS[1:]]
        values = [found[name] for name in COLUMNS[1:]]
        rows.append([system, found["n"], *("–" if v is None else f"{v:.4f}" for v in values)])
        rows.append(["", "", *(f"{pair[0]:.3f}–{pair[1]:.3f}" if pair else "" for pair in ends)])
    return tabulate(rows, ["system", *COLUMNS], disable_numparse=True)


def _write_disagreements(path: Path, judged: Sequence[JudgedAnswer]) -> None:
    header = ["system", "question_id", "question", "gold_answers", "answer", "people", "judge"]
    rows = [
        [
            *(own.system, own.question_id, own.question, " / ".join(own.golds), own.answer),
            "pass" if own.label else "fail",
            each.verdict,
        ]
        for each in judged
        if each.disagrees
        for own in [each.labelled]
    ]
    write_csv(path, header, rows)
