"""``bears show``: the metrics of the last run as a table."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from tabulate import tabulate

from bears.answers.judging.tables import table as judged_table
from bears.config import read_selection
from bears.errors import FormatError
from bears.evaluation.results import table
from bears.files.records import read_json, read_questions, to_json
from bears.files.shown import complain
from bears.layout import ANSWERS, PARAMS, RETRIEVAL, VERIFICATION, BenchmarkFiles
from bears.results.about import About, about
from bears.retrieval.cut import cuts_below, messages


def show(*, format: Literal["table", "json"] = "table") -> None:
    """Print the metrics of the last run, also if DVC took it from its cache.

    Args:
        format: default: table
    """
    if not RETRIEVAL.is_file():
        raise FormatError(f"{RETRIEVAL}: no such file; run `dvc repro`, in the project's root")
    results = read_json(RETRIEVAL)
    judged = read_json(ANSWERS) if ANSWERS.is_file() else {}
    found = read_json(VERIFICATION)
    run = _about(results, judged)
    if format == "json":
        own: dict[str, Any] = {"run": asdict(run)} if run else {}
        print(to_json({"retrieval": results, "answers": judged, "verification": found, **own}))
        return
    print(_text(RETRIEVAL, table, results))
    measured = {"benchmark": results["benchmark"]["name"], "retriever": results.get("retriever")}
    index = BenchmarkFiles(measured["benchmark"]).index(measured["retriever"] or "")
    for line in messages(cuts_below(index)):
        print(f"{index}: {line}\n")
    if run:
        print("\n".join(["run:", *run.lines()]) + "\n")
    for measure, one in judged.get("by_people", {}).items():
        value, low, high = (f"{one[key]:.4f}" for key in ("value", "low", "high"))
        print(
            f"{measure} by people: {value} ({low} to {high}), from labels of {one['labels']} of "
            f"{one['of']} items, which correct the judge below\n"
        )
    if judged:
        print(_text(ANSWERS, judged_table, judged))
    print(_text(VERIFICATION, _counted, found))
    selected = read_selection(PARAMS)
    for group, name in measured.items():
        if name and selected.get(group) != name:
            complain(
                f"warning: {RETRIEVAL} is of {group} {name}, and {PARAMS} selects "
                f"{selected.get(group)}; run `dvc repro` to measure that"
            )


COMMAND = show


def _about(results: Mapping[str, Any], judged: Mapping[str, Any]) -> About | None:
    """Return how the system was run, if its files are here."""
    files, retriever = BenchmarkFiles(results["benchmark"]["name"]), results["retriever"]
    if not files.queries.is_file():
        return None
    answers = files.answers(f"{retriever}.{judged.get('generator', 'none')}")
    return about(read_questions(files.queries), files.run(retriever), answers)


def _text(path: Path, shown: Callable[[Any], str], content: Any) -> str:
    try:
        return f"{path}:\n{shown(content)}\n"
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FormatError(
            f"{path} is not as the pipeline writes it: {error!r:.80}; run `dvc repro`"
        ) from None


def _counted(found: Mapping[str, Any]) -> str:
    rows = dict(found)
    for name, value in found.items():
        if isinstance(value, dict):
            # Counts are on one line, without those that are 0.
            rows[name] = ", ".join(f"{what} {n}" for what, n in value.items() if n) or "–"
    return str(tabulate(rows.items(), tablefmt="plain"))
