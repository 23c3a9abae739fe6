"""``python -m bears answers``: what a system answered, against the annotators' answers."""

import argparse
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.cli.selection import add_benchmark_arguments, results_of
from bears.evaluation.answers.predictions import read_predictions
from bears.evaluation.answers.references import with_references
from bears.evaluation.answers.score import score_answers, summarise_answers
from bears.formats.records import read_documents, read_lines, read_questions, write_json


def add_commands(parser: argparse.ArgumentParser) -> None:
    """The subcommands of ``answers``."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    scoring = commands.add_parser(
        "score",
        help="score a file of answers",
        description="Read JSON Lines, {question_id, answer, evidence: [doc_id]} or QASPER's "
        "{question_id, predicted_answer, predicted_evidence: [paragraph]}, and score them as "
        "QASPER's official evaluation does: a question without an answer scores 0.",
    )
    scoring.add_argument("file", metavar="FILE", type=Path)
    add_benchmark_arguments(scoring)
    scoring.add_argument(
        "--out", type=Path, help="a JSON file for the scores, of each question too"
    )
    scoring.set_defaults(run=_score)


def _score(arguments: argparse.Namespace) -> None:
    folder, config = results_of(arguments.benchmark, arguments.folder)
    language = config["benchmark"]["language"]
    questions = with_references(
        read_questions(folder / "queries.json"), _references(folder), language
    )
    documents = read_documents(folder / "corpus.json")
    predictions = read_predictions(arguments.file, questions, documents)
    scores = score_answers(questions, predictions, language)
    summary = summarise_answers(scores, len(predictions))
    if arguments.out:
        values = {
            question_id: {name: getattr(score, name) for name in score.__slots__}
            for question_id, score in scores.items()
        }
        write_json(arguments.out, {**summary, "questions": values})
    print(_table(summary))


def _references(folder: Path) -> dict[str, list[str]]:
    """What `sample` noted of further annotators, beside the records or among the pipeline's."""
    places = (folder / "lineage.jsonl", folder.parent / "sampled" / "lineage.jsonl")
    lineage = next((path for path in places if path.exists()), None)
    rows = (row for _, row in read_lines(lineage)) if lineage else ()
    return {row["record_id"]: row["references"] for row in rows if "references" in row}


def _table(summary: dict[str, Any]) -> str:
    plain = [[name, value] for name, value in summary.items() if name != "by_type"]
    rows = [[kind, *values.values()] for kind, values in summary["by_type"].items()]
    headers = ["type of the best reference", "answer_f1", "exact_match", "n"]
    return "\n\n".join(
        [
            tabulate(plain, tablefmt="plain", missingval="–"),
            tabulate(rows, headers=headers, floatfmt=".4f", missingval="–"),
        ]
    )
