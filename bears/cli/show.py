"""``python -m bears show``: the metrics of the last run as a table."""

import argparse
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.configuration import parse, read_selection
from bears.errors import FormatError
from bears.evaluation.table import Results, table
from bears.formats.records import read_json
from bears.formats.shown import one_line
from bears.judging.tables import Results as JudgedResults
from bears.judging.tables import table as judged_table
from bears.retrieval.cut import cuts_below, told

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
    parse(Results, results, str(RETRIEVAL))
    print(f"{RETRIEVAL}:\n{table(results)}\n")
    selected = read_selection(Path("params.yaml"))
    index = Path("data") / selected.get("benchmark", "") / "index" / selected.get("retriever", "")
    for line in told(cuts_below(index)):
        print(f"{index}: {line}\n")
    _show_answers()
    found = parse(dict[str, Any], read_json(VERIFICATION), str(VERIFICATION))
    print(f"{VERIFICATION}:\n{tabulate(found.items(), tablefmt='plain')}\n")


def _show_answers() -> None:
    judged = read_json(ANSWERS) if ANSWERS.is_file() else {}
    if judged != {}:
        parse(JudgedResults, judged, str(ANSWERS))
        print(f"{ANSWERS}: {one_line(_whose(judged))}\n{judged_table(judged)}\n")


def _whose(judged: dict[str, Any]) -> str:
    """Who answered from what, and who judged."""
    words = ("generator", "context", "within", "judge")
    return ", ".join(f"{word} {judged[word]}" for word in words if judged.get(word))
