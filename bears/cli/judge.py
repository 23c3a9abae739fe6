"""``python -m bears judge``: judges of answers, and how far each is to be believed."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.cli.selection import CONF, composed
from bears.errors import ConfigurationError
from bears.formats.records import write_json
from bears.formats.spreadsheet import write_csv
from bears.judging.bench import judges_of, majority, rulings_of
from bears.judging.calibration import JudgedAnswer, calibrate
from bears.judging.labels import LabelledAnswer, read_labels
from bears.judging.ruling import Case, Judge
from bears.language.scripts import script_share
from bears.language.tags import SCRIPTS, check_tag

JUDGES = CONF / "judge"
COLUMNS = ("n", "human", "judge", "agreement", "kappa", "tpr", "tnr", "corrected")
LANGUAGES = ("en", "zh", "ko", "ja")
"""Whose normal forms are tried, where no language is named, by the scripts of the answers."""


def add_commands(parser: argparse.ArgumentParser) -> None:
    """The subcommands of ``judge``."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    calibrating = commands.add_parser(
        "calibrate",
        help="measure a judge against people's labels",
        description="Compare the verdicts of a judge with people's, system by system: agreement, "
        "kappa, the shares of right and of wrong answers that it recognises, and the pass rate "
        "corrected for its errors, each with its 95 %% interval. Rows that have no label yet are "
        "judged too, and count in the corrected rate: it is what people would pass of all.",
    )
    calibrating.add_argument(
        "labels",
        metavar="LABELS",
        type=Path,
        help="CSV, JSON Lines or a JSON array: system, question_id, question, gold_answers, "
        "answer, label; or EVOUNA's file",
    )
    calibrating.add_argument("--judge", required=True, help="one of conf/judge")
    calibrating.add_argument(
        "--language", default="", help="BCP 47 tag of the answers; default: by their script"
    )
    calibrating.add_argument("--out", type=Path, help="a JSON file for the figures")
    calibrating.add_argument(
        "--disagreements", type=Path, help="a CSV file for the answers on which they differ"
    )
    calibrating.set_defaults(run=_calibrate)


def _calibrate(arguments: argparse.Namespace) -> None:
    judges = read_judge(arguments.judge)
    answers = read_labels(arguments.labels)
    if arguments.language:
        check_tag(arguments.language, "--language")
    language = arguments.language or _language_of(answers)
    cases = [Case(each.question_id, each.question, each.golds, each.answer) for each in answers]
    columns = zip(*rulings_of(judges, cases, language).values(), strict=True)
    judged = [
        JudgedAnswer(each, majority(column).verdict)
        for each, column in zip(answers, columns, strict=True)
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


def read_judge(name: str) -> dict[str, Judge]:
    """The judges that conf/judge/<name>.yaml describes; a panel has several.

    Raises:
        ConfigurationError: there is none of this name.
    """
    known = sorted({path.stem for path in JUDGES.glob("*.yaml")} - {"none"})
    if name not in known:
        raise ConfigurationError(f"--judge {name}: {JUDGES} has {', '.join(known) or 'none'}")
    return judges_of(composed("", [f"judge={name}"])["judge"])


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
