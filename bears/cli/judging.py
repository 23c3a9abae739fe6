"""``python -m bears answers judge``: a judge's verdicts on any system's answers."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.answers.judging.bench import Judges
from bears.answers.judging.files import read_hearing, read_verdicts, records_in
from bears.answers.judging.judged import JudgedQuestion
from bears.answers.judging.judged import results_of as judged_results
from bears.answers.judging.ranking import ranked
from bears.answers.judging.tables import table, write_judged
from bears.cli.answers_row import publish_answers
from bears.cli.selection import (
    add_benchmark_arguments,
    add_language,
    language_of,
    results_of,
    state_of,
)
from bears.cli.verdicts import add_asking, read_judges, verdicts
from bears.config import parse
from bears.config.shape import Name
from bears.errors import ConfigurationError
from bears.files.records import write_json
from bears.files.shown import one_line


def add_command(commands: Any) -> None:
    """The subcommand ``judge`` of ``answers``."""
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
    add_asking(judging)
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


def _judge(arguments: argparse.Namespace) -> None:
    files: Sequence[Path] = arguments.files
    if len(files) > 1 and (arguments.questions or arguments.oracle or arguments.system):
        raise ConfigurationError("--questions, --oracle and --system are for one FILE")
    judges = read_judges(arguments.judge, arguments.overrides)
    found = {}
    for file in files:
        name = parse(Name, arguments.system or file.stem, "--system")
        if name in found:
            raise ConfigurationError(f"two of the files are called {name}; rename one")
        rows, found[name] = _judged(arguments, file, judges)
    folder, config = results_of(arguments.benchmark, arguments.folder, arguments.unattested)
    state = state_of(folder, config, len(rows))
    if arguments.questions:
        write_judged(arguments.questions, rows)
    if arguments.out:
        told = {"benchmark": state.told(), "judge": arguments.judge, "systems": found}
        write_json(arguments.out, told)
    if arguments.system:
        means = found[name]["all"]
        faults = ("unscored",) if means["unscored"] else ()
        publish_answers(files[0], arguments.system, state, means, faults, arguments.judge)
    who = one_line(name) if len(found) == 1 else f"{len(found)} systems"
    print(f"{who}, judged by {one_line(arguments.judge)}, on {state}")
    print(table(next(iter(found.values()))) if len(found) == 1 else _ranking(found))


def _judged(
    arguments: argparse.Namespace, file: Path, judges: Judges
) -> tuple[list[JudgedQuestion], dict[str, Any]]:
    """Each question of a file, and what they come to."""
    folder, config = results_of(arguments.benchmark, arguments.folder, arguments.unattested)
    hearing = read_hearing(records_in(folder, file), language_of(folder, arguments.language))
    if arguments.oracle:
        hearing.oracle = read_verdicts(arguments.oracle)
    asked = (hearing.cases, hearing.language, config["benchmark"]["name"], arguments.yes)
    rulings = verdicts(judges, *asked)
    rows = hearing.judged(rulings)
    return rows, judged_results(rows, rulings)


def _ranking(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The systems in their order, or a refusal to order them."""
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
        f"{told}\n\nnot ranked, but by name: the unscored answers could turn the order of "
        f"{unranked}. Have them judged first"
    )
