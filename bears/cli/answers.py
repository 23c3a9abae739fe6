"""``python -m bears answers``: what a system answered, against the annotators' answers."""

import argparse
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.answers.judging.files import records_in
from bears.cli import judging
from bears.cli.board_row import on_board
from bears.cli.selection import (
    add_benchmark_arguments,
    add_language,
    language_of,
    results_of,
    state_of,
)
from bears.evaluation.answers.details import HEADER, faults, rows
from bears.evaluation.answers.forms import FORMS, read_answers
from bears.evaluation.answers.predictions import answers_of
from bears.evaluation.answers.references import read_referenced
from bears.evaluation.answers.score import score_answers, summarise_answers
from bears.files.digest import sha256_of
from bears.files.records import read_documents, write_json
from bears.files.shown import complain, one_line
from bears.files.spreadsheet import write_csv

FAULTS = {
    "missing": "questions are not in the file; they score 0",
    "no_answer": "answers are null; they score 0",
    "empty": "answers are empty",
    "system": "answers come with an error of the system's own",
    "evidence": "answers name evidence that is no document",
    "unknown_question": "questions are none of this benchmark, and are left out",
    "gold": "answers are gold answers to the letter, every one: does the file hold the gold?",
}
ENOUGH = 10
"""How many answers that are all the gold's are no coincidence."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of ``answers``."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    scoring = commands.add_parser(
        "score",
        help="score a file of answers",
        description=f"Read {FORMS}. Score the answers as QASPER's official evaluation does: a "
        "question without an answer scores 0.",
    )
    scoring.add_argument("file", metavar="FILE", type=Path)
    add_benchmark_arguments(scoring)
    add_language(scoring)
    scoring.add_argument("--out", type=Path, help="a JSON file for the scores")
    scoring.add_argument(
        "--questions",
        type=Path,
        help="a CSV file for every question: its answer, scores, and what went wrong",
    )
    scoring.add_argument(
        "--system", default="", help="put the scores on the leaderboard, as this system's"
    )
    scoring.add_argument(
        "--ignore-unknown",
        action="store_true",
        help="leave out questions that the benchmark lacks, and say how many they are",
    )
    scoring.set_defaults(run=_score)
    judging.add_commands(commands)


def _score(arguments: argparse.Namespace) -> None:
    folder, config = results_of(arguments.benchmark, arguments.folder, arguments.unattested)
    language = language_of(folder, arguments.language)
    records = records_in(folder, arguments.file)
    questions = read_referenced(records["queries"], records.get("lineage"), language)
    documents = read_documents(records["corpus"])
    given = read_answers(arguments.file)
    answers = answers_of(given, questions, documents, arguments.ignore_unknown)
    said = answers.predictions
    scores = score_answers(questions, said, language)
    found = faults(questions, answers, {document.doc_id for document in documents})
    counts = Counter(kind for each in found.values() for kind, _ in each)
    if len(said) >= ENOUGH and all(scores[q].reference == said[q].answer for q in said):
        counts["gold"] = len(said)
    counted = {kind: counts[kind] for kind in FAULTS if counts[kind]}
    summary = {**summarise_answers(scores, len(said)), "faults": counted}
    state = state_of(folder, config)
    if arguments.out:
        values = {key: asdict(score) for key, score in scores.items()}
        told = {"benchmark": state.told(), "language": language, **summary, "questions": values}
        write_json(arguments.out, told)
    if arguments.questions:
        write_csv(arguments.questions, HEADER, rows(questions, answers, scores, found, language))
    if arguments.system:
        on_board(state, arguments.system, sha256_of(arguments.file), summary, counted)
    print(f"{one_line(arguments.file.name)} on {state}\n{_table(summary)}")
    for kind, count in counted.items():
        complain(f"warning: {count} {FAULTS[kind]}")


def _table(summary: Mapping[str, Any]) -> str:
    """Return all answers and each type of them; then what is counted over some questions."""
    typed, undefined = summary["by_type"], summary["n_undefined"]
    missing = summary["n"] - undefined - sum(row["n"] for row in typed.values())
    columns = ("n", "answer_f1", "exact_match")
    table = [
        [kind, *(row[name] for name in columns)]
        for kind, row in {"all": summary, **typed}.items()
        if row["n"]
    ]
    table += [["without an answer", missing, 0.0, 0.0]] * bool(missing)
    table += [["without a reference", undefined, None, None]] * bool(undefined)
    over = {
        "evidence_f1": summary["n"] - undefined,
        "yes_no_accuracy": summary["n_yes_no"],
        "unanswerable_detection": summary["n_unanswerable"],
    }
    others = [[name, n, summary[name]] for name, n in over.items() if summary[name] is not None]
    parts = [tabulate(table, ["", *columns], floatfmt=".4f", missingval="–")]
    if others:
        parts.append(tabulate(others, ["", "n", "mean"], floatfmt=".4f"))
    return "\n\n".join(parts)
