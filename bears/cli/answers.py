"""``python -m bears answers``: what a system answered, against the annotators' answers."""

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.answers.judging.files import records_in
from bears.cli import judging
from bears.cli.answers_row import publish_answers
from bears.cli.selection import (
    add_benchmark_arguments,
    add_language,
    language_of,
    results_of,
    state_of,
)
from bears.evaluation.answers.details import HEADER, Fault, faults, rows
from bears.evaluation.answers.forms import FORMS, read_answers
from bears.evaluation.answers.predictions import Answers, answers_of
from bears.evaluation.answers.references import read_referenced, references_of
from bears.evaluation.answers.score import literal, score_answers, summarise_answers
from bears.files.records import read_documents, write_json
from bears.files.shown import complain, one_line
from bears.files.spreadsheet import write_csv
from bears.types import Document, Question

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
"""Answers, that all of them be the gold's is no chance."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The subcommands of ``answers``."""
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
    judging.add_command(commands)


def _score(arguments: argparse.Namespace) -> None:
    folder, config = results_of(arguments.benchmark, arguments.folder, arguments.unattested)
    language = language_of(folder, arguments.language)
    records = records_in(folder, arguments.file)
    questions = read_referenced(records["queries"], records.get("lineage"), language)
    documents = read_documents(records["corpus"])
    given = read_answers(arguments.file)
    answers = answers_of(given, questions, documents, arguments.ignore_unknown)
    scores = score_answers(questions, answers.predictions, language)
    found = faults(questions, answers, {document.doc_id for document in documents})
    summary = summarise_answers(scores, len(answers.predictions))
    summary["faults"] = _counted(found, questions, answers, language)
    state = state_of(folder, config, len(questions))
    if arguments.out:
        values = {key: asdict(score) for key, score in scores.items()}
        told = {"benchmark": state.told(), "language": language, **summary, "questions": values}
        write_json(arguments.out, told)
    if arguments.questions:
        write_csv(arguments.questions, HEADER, rows(questions, answers, scores, found, language))
    if arguments.system:
        publish_answers(arguments.file, arguments.system, state, summary, summary["faults"])
    print(f"{one_line(arguments.file.name)} on {state}")
    print(_grouped(questions, documents, answers) + _table(summary))
    for kind, count in summary["faults"].items():
        complain(f"warning: {count} {FAULTS[kind]}")


def _counted(
    found: Mapping[str, Sequence[Fault]],
    questions: Sequence[Question],
    answers: Answers,
    language: str,
) -> dict[str, int]:
    """A kind of fault to how many answers have it."""
    counts = Counter(kind for each in found.values() for kind, _ in each)
    said = answers.predictions
    copied = sum(
        said[q.question_id].answer in {literal(each) for each in references_of(q, language)}
        for q in questions
        if q.question_id in said
    )
    counts["gold"] = copied if copied == len(said) >= ENOUGH else 0
    return {kind: counts[kind] for kind in FAULTS if counts[kind]}


def _grouped(questions: Sequence[Question], documents: Sequence[Document], answers: Answers) -> str:
    """Where questions have a group (a paper): of which groups the evidence is, and from where."""
    if not any(question.group for question in questions):
        return ""
    groups = {document.doc_id: document.group for document in documents}
    own = {question.question_id: question.group for question in questions}
    elsewhere = sum(
        any(groups.get(doc_id, own[key]) != own[key] for doc_id in said.evidence or ())
        for key, said in answers.predictions.items()
    )
    pdf = any(":pdf:" in document.doc_id for document in documents)
    return (
        f"documents are paragraphs of {'PDFs' if pdf else 'the dataset'}; {elsewhere} answers name "
        "evidence of another paper than their question's\n"
    )


def _table(summary: Mapping[str, Any]) -> str:
    """All answers and each type of them; then what is counted over some of the questions."""
    typed = summary["by_type"]
    missing = summary["n"] - summary["n_undefined"] - sum(row["n"] for row in typed.values())
    kinds = {
        "all": summary,
        **typed,
        "without an answer": {"n": missing, "answer_f1": 0.0, "exact_match": 0.0},
        "without a reference": {
            "n": summary["n_undefined"],
            "answer_f1": None,
            "exact_match": None,
        },
    }
    columns = ("n", "answer_f1", "exact_match")
    table = [
        [kind, *(row.get(name) for name in columns)] for kind, row in kinds.items() if row["n"]
    ]
    over = {
        "evidence_f1": summary["n"] - summary["n_undefined"],
        "yes_no_accuracy": summary["n_yes_no"],
        "unanswerable_detection": summary["n_unanswerable"],
    }
    others = [[name, n, summary[name]] for name, n in over.items() if summary[name] is not None]
    parts = [tabulate(table, ["", *columns], floatfmt=".4f", missingval="–")]
    if others:
        parts.append(tabulate(others, ["", "n", "mean"], floatfmt=".4f"))
    return "\n\n".join(parts)
