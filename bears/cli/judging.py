"""``python -m bears answers judge`` and ``calibrate``: what judges say, and what that is worth."""

import argparse
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.answers.judging.bench import Judges, Rulings, judges_of, majority, rulings_of, tasks_of
from bears.answers.judging.calibration import JudgedAnswer, calibrate
from bears.answers.judging.files import read_hearing, read_verdicts, records_in
from bears.answers.judging.judged import JudgedQuestion, ranked
from bears.answers.judging.judged import results_of as judged_results
from bears.answers.judging.labels import GivenBy, LabelledAnswer, read_labels
from bears.answers.judging.model import NAME
from bears.answers.judging.ruling import Case
from bears.answers.judging.tables import table, write_judged
from bears.cli.board_row import on_board
from bears.cli.selection import (
    add_benchmark_arguments,
    add_language,
    composed,
    language_of,
    results_of,
    state_of,
)
from bears.cli.spending import asked
from bears.config import checkout, parse
from bears.config.shape import Name
from bears.errors import ConfigurationError
from bears.files.digest import sha256_of
from bears.files.records import write_json
from bears.files.shown import complain, one_line
from bears.files.spreadsheet import write_csv
from bears.language.scripts import script_share
from bears.language.tags import SCRIPTS, check_tag
from bears.layout import DATA, BenchmarkFiles
from bears.llm.kept import load
from bears.llm.workflow import Workflow

COLUMNS = ("n", "human", "judge", "agreement", "kappa", "tpr", "tnr", "corrected")
LANGUAGES = ("en", "zh", "ko", "ja")
"""Whose normal forms are tried, where no language is named, by the scripts of the answers."""


def add_commands(commands: Any) -> None:
    """Add the subcommands ``judge`` and ``calibrate`` of ``answers``."""
    judging = commands.add_parser(
        "judge",
        help="judge files of answers",
        description="Judge every answer of each FILE (the forms of `answers score`): pass, fail, "
        "or unscored where nobody knows; a question without an answer fails. A model's verdicts "
        "are kept in data/memory/BENCHMARK.verdicts.jsonl and never paid for twice. Several "
        "systems are ranked only where no unscored answer could change their order.",
    )
    judging.add_argument("files", metavar="FILE", type=Path, nargs="+")
    add_benchmark_arguments(judging)
    add_language(judging)
    _add_asking(judging)
    judging.add_argument(
        "--system",
        default="",
        help="put the pass rate on the leaderboard, as this system's; default: the file's name "
        "without .jsonl, and no leaderboard",
    )
    judging.add_argument(
        "--oracle",
        type=Path,
        help="the .questions.csv of the same generator with the gold documents alone: it says "
        "whether a reader that failed could do better",
    )
    judging.add_argument("--out", type=Path, help="a JSON file for the figures of each system")
    judging.add_argument(
        "--questions", type=Path, help="a CSV file for the questions, of one system"
    )
    judging.set_defaults(run=_judge)
    calibrating = commands.add_parser(
        "calibrate",
        help="measure a judge against people's labels",
        description="Compare the verdicts of a judge with people's, system by system: agreement, "
        "kappa, the shares of right and of wrong answers that it recognizes, and the pass rate "
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
    _add_asking(calibrating)
    calibrating.set_defaults(run=_calibrate)


def _add_asking(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--judge", required=True, help="one of conf/judge")
    parser.add_argument("--yes", action="store_true", help="do not ask before spending")
    parser.add_argument(
        "--set",
        dest="overrides",
        action="append",
        default=[],
        metavar="OVERRIDE",
        help="a Hydra override of the judge: --set judge.budget=5",
    )


def _judge(arguments: argparse.Namespace) -> None:
    files: Sequence[Path] = arguments.files
    if len(files) > 1 and (arguments.questions or arguments.oracle or arguments.system):
        raise ConfigurationError("--questions, --oracle and --system are for one FILE")
    folder, config = results_of(arguments.benchmark, arguments.folder, arguments.unattested)
    language, judges = language_of(folder, arguments.language), _judges(arguments)
    found: dict[str, dict[str, Any]] = {}
    rows: list[JudgedQuestion] = []
    for file in files:
        name = parse(Name, arguments.system or file.stem, "--system")
        if name in found:
            raise ConfigurationError(f"two of the files are called {name}; rename one")
        hearing = read_hearing(records_in(folder, file), language)
        if arguments.oracle:
            hearing.oracle = read_verdicts(arguments.oracle)
        memory = config["benchmark"]["name"]
        rulings = _verdicts(judges, hearing.cases, language, memory, arguments.yes)
        rows = hearing.judged(rulings)
        found[name] = judged_results(rows, rulings)
    state = state_of(folder, config)
    if arguments.questions:
        write_judged(arguments.questions, rows)
    if arguments.out:
        told = {"benchmark": state.told(), "judge": arguments.judge, "systems": found}
        write_json(arguments.out, told)
    if arguments.system:
        means = found[name]["all"]
        faults = ["unscored"] if means["unscored"] else []
        scored = sha256_of(files[0])
        on_board(state, arguments.system, scored, means, faults, judge=arguments.judge)
    who = one_line(name) if len(found) == 1 else f"{len(found)} systems"
    print(f"{who}, judged by {one_line(arguments.judge)}, on {state}")
    print(table(found[name]) if len(found) == 1 else _ranking(found))


def _ranking(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the systems in their order, or say why they cannot be ordered."""
    names, pairs = ranked({name: results["all"]["pass_bounds"] for name, results in found.items()})
    rows = []
    for name in names:
        results = found[name]["all"]
        low, high = results["pass_bounds"]
        rate = "–" if results["pass_rate"] is None else f"{results['pass_rate']:.4f}"
        rows.append([name, rate, f"{low:.4f}–{high:.4f}", results["unscored"], results["n"]])
    header = ["system", "pass_rate", "pass_bounds", "unscored", "n"]
    told = tabulate(rows, header, disable_numparse=True)
    if not pairs:
        return told
    unranked = "; ".join(" and ".join(pair) for pair in pairs)
    return (
        f"{told}\n\nsorted by name, not ranked: the unscored answers could change the order of "
        f"{unranked}. Have them judged first"
    )


def _calibrate(arguments: argparse.Namespace) -> None:
    judges, given_by, language = _judges(arguments), None, arguments.language
    if arguments.benchmark:
        given_by, language = _answers_of(arguments.benchmark, language)
    answers = read_labels(arguments.labels, given_by)
    language = language or _language_of(answers)
    check_tag(language, "--language")
    memory = arguments.benchmark or arguments.labels.stem
    cases = [each.case for each in answers]
    rulings = _verdicts(judges, cases, language, memory, arguments.yes).values()
    judged = [
        JudgedAnswer(each, majority(column).verdict)
        for each, *column in zip(answers, *rulings, strict=True)
    ]
    systems = calibrate(judged)
    if arguments.out:
        told = {"judge": arguments.judge, "language": language, "systems": systems}
        write_json(arguments.out, told)
    differing = [each for each in judged if each.disagrees]
    if arguments.disagreements:
        _write_disagreements(arguments.disagreements, differing)
    print(_calibration(systems))
    print(
        f"\nanswers compared as {language} (--language names another); {arguments.judge} and "
        f"people differ on {len(differing):,} answers"
    )


def _answers_of(benchmark: str, language: str) -> tuple[GivenBy, str]:
    """Return where the answers of a benchmark's systems are found, and their language."""
    folder, _ = results_of(benchmark, None)
    language = language_of(folder, language)

    @cache
    def cases(system: str) -> dict[str, Case]:
        answers = DATA / benchmark / "answers" / f"{system}.jsonl"
        hearing = read_hearing(records_in(folder, answers), language)
        return {case.question_id: case for case in hearing.cases}

    return lambda system, question_id: cases(system).get(question_id), language


def _language_of(answers: Sequence[LabelledAnswer]) -> str:
    text = "\n".join(each.case.question for each in answers[:1000])
    return max(LANGUAGES, key=lambda tag: script_share(text, SCRIPTS[tag]))


def _calibration(systems: Mapping[str, Mapping[str, Any]]) -> str:
    rows = []
    for system, found in systems.items():
        ends = [found["interval_95"].get(name) for name in COLUMNS[1:]]
        values = [found[name] for name in COLUMNS[1:]]
        rows.append([system, found["n"], *("–" if v is None else f"{v:.4f}" for v in values)])
        rows.append(["", "", *(f"{pair[0]:.3f}–{pair[1]:.3f}" if pair else "" for pair in ends)])
    return tabulate(rows, ["system", *COLUMNS], disable_numparse=True)


def _write_disagreements(path: Path, differing: Sequence[JudgedAnswer]) -> None:
    header = ["system", "question_id", "question", "gold_answers", "answer", "people", "judge"]
    rows = [
        [
            *(each.labelled.system, case.question_id, case.question, " / ".join(case.golds)),
            *(case.answer, "pass" if each.labelled.label else "fail", each.verdict),
        ]
        for each in differing
        for case in [each.labelled.case]
    ]
    write_csv(path, header, rows)


def _judges(arguments: argparse.Namespace) -> Judges:
    """Return the judges of conf/judge/<name>.yaml; a panel has several."""
    judges = judges_of(composed("", [f"judge={arguments.judge}", *arguments.overrides])["judge"])
    if not judges:
        raise ConfigurationError(f"--judge {arguments.judge} has no judge; choose another")
    return judges


def _verdicts(
    judges: Judges, cases: Sequence[Case], language: str, memory: str, agreed: bool
) -> Rulings:
    """Return what each judge says of each case; what a model had to be asked is published.

    Args:
        language: BCP 47 tag of the answers.
        memory: what the file of the models' verdicts is called after.
        agreed: whether ``--yes`` was given.

    Raises:
        MemoryMiss: a model did not judge everything; what it judged is published.
    """
    path = BenchmarkFiles(memory).replies("verdicts")
    for task in tasks_of(judges, cases, language):
        if task.resolve(load(path, NAME)).missing:
            workflow = Workflow(task, path, checkout())
            if stopped := asked(workflow, agreed).stopped:
                complain(f"stopped: {stopped}")
            workflow.publish()
    return rulings_of(judges, cases, language, load(path, NAME))
