"""``python -m bears show``: the metrics of the last run as a table."""

import argparse
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.answers.judging.tables import AnswerResults
from bears.answers.judging.tables import table as judged_table
from bears.config import parse, read_selection
from bears.errors import FormatError
from bears.evaluation.table import RetrievalMetrics, table
from bears.files.records import read_json
from bears.files.shown import complain
from bears.retrieval.cut import cuts_below, told

SELECTION = Path("params.yaml")
RETRIEVAL = Path("metrics/retrieval.json")
ANSWERS = Path("metrics/answers.json")
VERIFICATION = Path("metrics/verification.json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has none."""
    parser.description = "Print the metrics of the last run, also of one from DVC's cache."
    parser.set_defaults(run=_show)


def _show(_: argparse.Namespace) -> None:
    if not RETRIEVAL.is_file():
        raise FormatError(f"{RETRIEVAL}: no such file; run `dvc repro`, in the project's root")
    results = read_json(RETRIEVAL)
    parse(RetrievalMetrics, results, str(RETRIEVAL))
    print(f"{RETRIEVAL}:\n{table(results)}\n")
    index = Path("data") / results["benchmark"]["name"] / "index" / results.get("retriever", "")
    for line in told(cuts_below(index)):
        print(f"{index}: {line}\n")
    _show_answers()
    found = parse(dict[str, Any], read_json(VERIFICATION), str(VERIFICATION))
    print(f"{VERIFICATION}:\n{tabulate(found.items(), tablefmt='plain')}\n")
    _compare_with_selection(results)


def _compare_with_selection(results: dict[str, Any]) -> None:
    """Complain where params.yaml selects something else than was measured."""
    selected = read_selection(SELECTION)
    measured = {"benchmark": results["benchmark"]["name"], "retriever": results.get("retriever")}
    for group, name in measured.items():
        if name and selected.get(group) != name:
            complain(
                f"warning: {RETRIEVAL} is of {group} {name}, and {SELECTION} selects "
                f"{selected.get(group)}; run `dvc repro` to measure that"
            )


def _show_answers() -> None:
    judged = read_json(ANSWERS) if ANSWERS.is_file() else {}
    if judged != {}:
        parse(AnswerResults, judged, str(ANSWERS))
        print(f"{ANSWERS}:\n{judged_table(judged)}\n")
