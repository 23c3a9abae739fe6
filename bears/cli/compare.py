"""``python -m bears compare``: whether systems differ, by how much, and how sure that is."""

import argparse
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bears.cli.selection import composed, main_of, records_of
from bears.errors import FormatError
from bears.evaluation.comparison.plan import plan_text, planned
from bears.evaluation.comparison.result import KINDS, compare
from bears.evaluation.comparison.table import shown
from bears.files.records import to_json, write_text
from bears.files.shown import complain, one_line
from bears.results.origins import ran, system_at, system_of
from bears.results.records import Records
from bears.results.revision import WORKSPACE, Revision
from bears.results.row import MAIN
from bears.results.system import System

COMPARISON = Path("metrics/comparison.json")
FORMS = ("table", "json", "markdown", "latex", "csv")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``compare``."""
    parser.description = (
        "Compare systems of one benchmark, question by question: differences with 95 % intervals, "
        "p corrected for all that is compared, groups that cannot be told apart, and the questions "
        "that flipped. The whole goes to metrics/comparison.json, which git ignores."
    )
    parser.add_argument(
        "systems",
        metavar="SYSTEM",
        nargs="*",
        help="a DVC revision or experiment, `workspace`, a file (a TREC run, a submission, or a "
        "CSV of question_id and a column for each measure), or a system of the leaderboard; none: "
        "HEAD, its experiments and the workspace, those of each benchmark apart",
    )
    parser.add_argument("--measure", action="append", default=[], help="may be given repeatedly")
    parser.add_argument(
        "--by",
        action="append",
        default=[],
        choices=("type", "source"),
        help="also for each of them",
    )
    parser.add_argument(
        "--equal-within",
        type=_margin,
        metavar="D",
        help="a difference that does not matter: pairs that surely differ by less are equal",
    )
    parser.add_argument("--format", default="table", choices=FORMS, help="default: table")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write there, and print nothing")
    parser.add_argument(
        "--plan",
        action="store_true",
        help="no comparison, but how many questions show which difference, by this one's spread",
    )
    parser.add_argument("--benchmark", default="", help="of files; default: the one in params.yaml")
    parser.add_argument(
        "--all-commits", action="store_true", help="without SYSTEM: experiments of every commit"
    )
    parser.set_defaults(run=_compare)


def _margin(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{word!r} is not a number above 0")
    return value


def _compare(arguments: argparse.Namespace) -> None:
    benchmarks = _benchmarks(arguments)
    if arguments.plan:
        results = [planned(systems, arguments.measure) for systems in benchmarks]
    else:
        results = [
            compare(systems, arguments.measure, _main(systems), arguments.equal_within)
            for systems in benchmarks
        ]
        write_text(COMPARISON, _json(results))
        for kind in arguments.by:
            if not all(result["by"].get(kind) for result in results):
                complain(f"compare: no {kind} of questions is known: no column {KINDS[kind]}")
    text = _formed(results, arguments)
    if arguments.out is None:
        print(text, end="")
    else:
        write_text(arguments.out, text)


def _benchmarks(arguments: argparse.Namespace) -> list[list[System]]:
    """The systems to compare, those of each benchmark apart."""
    words = arguments.systems
    if arguments.benchmark:
        composed(arguments.benchmark, [])  # It is refused where nothing is called so.
    if twice := [word for word in words if words.count(word) > 1]:
        raise FormatError(f"{twice[0]} is named twice")
    if words:
        systems = _apart(words, [system_of(word, lambda: _records(arguments)) for word in words])
        if len(systems) < 2 and not arguments.plan:
            raise FormatError("one system cannot be compared; name two or more, or none for all")
        return [systems]
    groups = ran(arguments.all_commits)
    found = [group for group in groups if len(group) > 1 and len(group[0].values.columns)]
    wanted = arguments.benchmark
    found = [group for group in found if wanted in ("", group[0].benchmark["name"])]
    if not found and arguments.plan:
        return [[system_at(Revision(WORKSPACE))]]
    if not found:
        raise FormatError(
            f"fewer than two results{f' on {wanted}' if wanted else ''} among HEAD, its "
            "experiments and the workspace; make one: dvc exp run -S retriever=wordllama"
        )
    return found


def _records(arguments: argparse.Namespace) -> Records:
    """Return what a file of rankings is scored against."""
    return records_of(arguments.benchmark or str(composed("", [])["benchmark"]["name"]))


def _apart(words: Sequence[str], systems: Sequence[System]) -> list[System]:
    """The systems, files of one name called by their whole paths; no name acts on a terminal."""
    plain = [system.name for system in systems]
    names = [
        name if plain.count(name) == 1 and name not in words else word
        for name, word in zip(plain, words, strict=True)
    ]
    return [
        replace(system, name=one_line(name, 500))
        for system, name in zip(systems, names, strict=True)
    ]


def _main(systems: Sequence[System]) -> str:
    """The measure that orders the benchmark, as its configuration says."""
    name = next((str(s.benchmark["name"]) for s in systems if s.benchmark), "")
    return main_of(composed(name, [])) if name else MAIN


def _json(results: Sequence[dict[str, Any]]) -> str:
    return to_json(results[0] if len(results) == 1 else results) + "\n"


def _formed(results: Sequence[dict[str, Any]], arguments: argparse.Namespace) -> str:
    if arguments.format == "json":
        return _json(results)
    if arguments.plan:
        return "\n".join(plan_text(plan, arguments.format) for plan in results)
    kinds = list(dict.fromkeys(arguments.by))
    return "\n".join(shown(result, arguments.format, kinds) for result in results)
