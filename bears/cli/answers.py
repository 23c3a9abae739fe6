"""``bears answers``: score or judge a system's answers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.answers.judging.chosen import AnyJudge, judge_of, tasks_of
from bears.answers.judging.files import read_unjudged, records_in
from bears.answers.judging.graded import cases_of, judged, with_items
from bears.answers.judging.judged import results_of as judged_results
from bears.answers.judging.model import NAME
from bears.answers.judging.ruling import Case, Item
from bears.answers.judging.tables import table, write_judged
from bears.config.shape import Name
from bears.config.typed import parse
from bears.errors import ConfigurationError
from bears.evaluation.answers.details import HEADER, faults, rows
from bears.evaluation.answers.predictions import answers_of, read_answers
from bears.evaluation.answers.score import (
    ENGLISH,
    MEANS,
    by_question_type,
    mean_score,
    referenced,
    score_answers,
    summarize_answers,
)
from bears.evaluation.repeats import asked_in, by_key
from bears.files.benchmark_state import BenchmarkState
from bears.files.records import read_documents, sha256_of, write_json
from bears.files.shown import complain
from bears.files.spreadsheet import write_csv
from bears.files.visible import one_line
from bears.layout import LEADERBOARD, BenchmarkFiles
from bears.llm.use import KeptReplies, load
from bears.llm.workflow import Workflow
from bears.results.row import ANSWERS, OF_ANSWERS, submitted
from bears.selection.configuration import composed, language_of, records_of, selected
from bears.selection.spending import ask_missing

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
    {results: [such a list]}; one object {question_id: answer}; or CSV or .xlsx with the columns
    question_id, answer and, as a JSON list, evidence. Without ids, question is the text. Scores the
    answers with QASPER's official evaluation: a question without an answer scores 0.

    Args:
        file: the answers
        benchmark: its records must be in data/
        out: a JSON file for the scores
        questions: a CSV file with each question's answer, scores, and what went wrong
    """
    records = records_of(benchmark, folder, unattested)
    language = language_of(records.folder, language)
    paths = records_in(records.folder, file)
    asked = referenced(records.questions, paths.get("lineage"), language)
    documents = read_documents(paths["corpus"])
    doc_ids = {document.doc_id for document in documents}
    seen, table = set[tuple[str, str]](), list[Sequence[Any]]()
    measured, same = [], list[tuple[str, bool]]()
    repeats = answers_of(read_answers(file), asked, documents, ignore_unknown)
    for number, (answers, own) in enumerate(asked_in(repeats, asked), start=1):
        values = score_answers(own, answers, language)
        found = faults(own, answers, doc_ids)
        seen |= {(kind, key) for key, each in found.items() for kind, _ in each}
        table += [(*row, number) for row in rows(own, answers, values, found, language)]
        measured.append(values)
        said = ((key, each.answer) for key, each in answers.items() if key in values)
        same += [(key, values[key].reference == text) for key, text in said if text is not None]
    scored = by_key(pair for values in measured for pair in values.items())
    scores = {key: mean_score(each) for key, each in scored.items()}
    counts = Counter(kind for kind, _ in seen)
    given = dict(same)
    if len(given) >= ENOUGH and all(right for _, right in same):
        counts["gold"] = len(given)
    counted = {kind: counts[kind] for kind in FAULTS if counts[kind]}
    typed = {"by_question_type": by_question_type(asked, scores)}
    summary = {**summarize_answers(scores, len(given)), **typed, "faults": counted}
    state = records.state
    if out:
        about = {"benchmark": state.as_dict(), "language": language}
        each = {key: asdict(score) for key, score in scores.items()}
        write_json(out, {**about, **summary, "questions": each})
    if questions:
        header = [*HEADER, "repeat"]
        width = len(header) if len(repeats) > 1 else len(HEADER)
        write_csv(questions, header[:width], (row[:width] for row in table))
    if system:
        add_row(state, system, sha256_of(file), summary, counted)
    print(f"{one_line(file.name)} on {state}\n{_table(summary)}")
    for kind, count in counted.items():
        complain(f"warning: {count} {FAULTS[kind]}")


def judge_file(
    file: Path,
    *,
    judge: str,
    benchmark: str = "",
    folder: Path | None = None,
    unattested: bool = False,
    language: str = "",
    yes: bool = False,
    give_up: bool = False,
    set_: Sequence[str] = (),
    system: str = "",
    out: Path | None = None,
    questions: Path | None = None,
) -> None:
    """Judge a file of answers.

    Reads the forms of `answers score`. A verdict is pass, fail, or unscored if it can't be known; a
    question without an answer fails. A model's verdicts are kept in
    data/memory/BENCHMARK.verdicts.jsonl and never paid for twice.

    Args:
        file: the answers
        benchmark: its records must be in data/
        judge: one of conf/judge
        give_up: count as unscored what the server refuses by a code
        set_: a Hydra override of the judge: --set judge.budget=5
        system: add the pass rate to the leaderboard under this name
        out: a JSON file for the figures
        questions: a CSV file for the questions, which `bears compare` reads
    """
    name = parse(Name, system or file.stem, "--system")
    records = records_of(benchmark, folder, unattested)
    language, chosen = language_of(records.folder, language), judge_named(judge, set_)
    rows = read_unjudged(records.questions, records_in(records.folder, file), language)
    rows = with_items(rows, chosen, records.corpus, records.nuggets)
    replies = records.benchmark.name
    known = verdicts_of(chosen, cases_of(rows), language, replies, yes, give_up)
    rows = judged(rows, chosen, language, known)
    results, state = judged_results(rows), records.state
    if questions:
        write_judged(questions, rows)
    if out:
        about = {"benchmark": state.as_dict(), "judge": judge, "system": name}
        write_json(out, about | results)
    if system:
        faults = ["unscored"] if results["all"]["unscored"] else []
        add_row(state, system, sha256_of(file), results["all"], faults, judge)
    print(f"{one_line(name)}, judged by {one_line(judge)}, on {state}")
    print(table(results))


COMMAND = {"score": score, "judge": judge_file}


def add_row(
    state: BenchmarkState,
    system: str,
    digest: str,
    values: Mapping[str, Any],
    faults: Iterable[str],
    judge: str = "",
) -> None:
    """Add scores of answers to the leaderboard, as a row of their own.

    Args:
        system: the name of the row.
        digest: of what was scored; it distinguishes other answers of the same system.
        values: measure to its mean; those that have a column are kept.
        faults: names of warnings.
        judge: who gave the values that need a judge.
    """
    # This imports pandas, which takes two seconds, and most files of answers get no row.
    from bears.publishing.leaderboard.tables import publish

    row = submitted(
        state,
        system,
        judge=judge,
        answers=digest[:12],
        values={name: values[name] for name in ANSWERS if name in values},
        warnings=", ".join(sorted(OF_ANSWERS + fault for fault in faults)),
    )
    publish(LEADERBOARD, [row])


def _table(summary: Mapping[str, Any]) -> str:
    """Return tables of the means: by the best reference, by type of question, and the others."""
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
        **dict.fromkeys(ENGLISH, summary["n"] - undefined),
        "evidence_f1": summary["n"] - undefined,
        "yes_no_accuracy": summary["n_yes_no"],
        "unanswerable_detection": summary["n_unanswerable"],
    }
    others = [[name, n, summary[name]] for name, n in over.items() if summary.get(name) is not None]
    parts = [tabulate(table, ["best reference", *columns], floatfmt=".4f", missingval="–")]
    if len(of := summary["by_question_type"]) > 1:
        known = [name for name in MEANS if any(row.get(name) is not None for row in of.values())]
        own = [[kind, row["n"], *map(row.get, known)] for kind, row in of.items()]
        parts.append(tabulate(own, ["question", "n", *known], floatfmt=".4f", missingval="–"))
    if others:
        parts.append(tabulate(others, ["", "n", "mean"], floatfmt=".4f"))
    return "\n\n".join(parts)


def judge_named(name: str, overrides: Sequence[str]) -> AnyJudge:
    """Return the judge of conf/judge/NAME.yaml."""
    judge = judge_of(selected(composed("", [f"judge={name}", *overrides])).judge)
    if judge is None:
        raise ConfigurationError(f"--judge {name} has no judge; choose another")
    return judge


def verdicts_of(
    judge: AnyJudge,
    cases: Sequence[Case | Item],
    language: str,
    replies: str,
    agreed: bool,
    give_up: bool = False,
) -> KeptReplies:
    """Return the kept verdicts with those on these cases; new replies of models are published.

    Args:
        language: BCP 47 tag of the answers.
        replies: the benchmark whose kept replies hold the verdicts.
        agreed: whether ``--yes`` was given.
        give_up: publish as unscored what the server refuses by a code.
    """
    path = BenchmarkFiles(replies).replies("verdicts")
    for task in tasks_of(judge, cases, language):
        if task.resolve(load(path, NAME)).missing:
            workflow = Workflow(task, path)
            if stopped := ask_missing(workflow, agreed).stopped:
                complain(f"stopped: {stopped}")
            workflow.publish(give_up)
    return load(path, NAME)
