"""``bears answers``: compare a system's answers with the annotators' answers."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.answers.judging.files import records_in
from bears.cli.board_row import add_row
from bears.cli.judging import calibrate_judge, judge_files
from bears.cli.selection import language_of, records_of
from bears.evaluation.answers.details import HEADER, faults, rows
from bears.evaluation.answers.forms import read_answers
from bears.evaluation.answers.predictions import answers_of
from bears.evaluation.answers.references import read_referenced
from bears.evaluation.answers.score import score_answers, summarize_answers
from bears.files.digest import sha256_of
from bears.files.records import read_documents, write_json
from bears.files.shown import complain, one_line
from bears.files.spreadsheet import write_csv

FAULTS = {
    "missing": "questions are not in the file; they score 0",
    "no_answer": "answers are null; they score 0",
    "empty": "answers are empty",
    "system": "answers have an error that the system reported",
    "evidence": "answers name evidence that is not a document",
    "unknown_question": "questions are not in this benchmark, and are skipped",
    "gold": "answers equal the gold answers, all of them: does the file hold the gold?",
}
ENOUGH = 10
"""Answers that can't all equal the gold by chance."""


def score(
    file: Path,
    *,
    benchmark: str = "",
    folder: Path | None = None,
    unattested: bool = False,
    language: str = "",
    out: Path | None = None,
    questions: Path | None = None,
    system: str = "",
    ignore_unknown: bool = False,
) -> None:
    """Score a file of answers.

    Reads JSON Lines or a JSON list of {question_id, answer, evidence: [doc_id or paragraph]}, where
    evidence may be absent; QASPER's {question_id, predicted_answer, predicted_evidence};
    {results: [such a list]}; one object {question_id: answer}; or CSV with the columns question_id,
    answer and, as a JSON list, evidence. Scores the answers with QASPER's official evaluation: a
    question without an answer scores 0.

    Args:
        file: the answers
        benchmark: its records must be in data/
        out: a JSON file for the scores
        questions: a CSV file with each question's answer, scores, and what went wrong
    """
    records = records_of(benchmark, folder, unattested)
    language = language_of(records.folder, language)
    paths = records_in(records.folder, file)
    referenced = read_referenced(paths["queries"], paths.get("lineage"), language)
    documents = read_documents(paths["corpus"])
    answers = answers_of(read_answers(file), referenced, documents, ignore_unknown)
    given = answers.predictions
    scores = score_answers(referenced, given, language)
    found = faults(referenced, answers, {document.doc_id for document in documents})
    counts = Counter(kind for each in found.values() for kind, _ in each)
    if len(given) >= ENOUGH and all(scores[q].reference == given[q].answer for q in given):
        counts["gold"] = len(given)
    counted = {kind: counts[kind] for kind in FAULTS if counts[kind]}
    summary = {**summarize_answers(scores, len(given)), "faults": counted}
    state = records.state
    if out:
        about = {"benchmark": state.as_dict(), "language": language}
        values = {key: asdict(score) for key, score in scores.items()}
        write_json(out, {**about, **summary, "questions": values})
    if questions:
        write_csv(questions, HEADER, rows(referenced, answers, scores, found, language))
    if system:
        add_row(state, system, sha256_of(file), summary, counted)
    print(f"{one_line(file.name)} on {state}\n{_table(summary)}")
    for kind, count in counted.items():
        complain(f"warning: {count} {FAULTS[kind]}")


COMMAND = {"score": score, "judge": judge_files, "calibrate": calibrate_judge}


def _table(summary: Mapping[str, Any]) -> str:
    """Return the means of all answers and of each type, then those over some questions only."""
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
