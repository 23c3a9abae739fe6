"""``bears answers``: score or judge a system's answers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bears.answers.judging.chosen import AnyJudge, judge_of, tasks_of
from bears.answers.judging.files import read_unjudged, records_in
from bears.answers.judging.graded import cases_of, judged, with_items
from bears.answers.judging.judged import JudgedQuestion, results_of
from bears.answers.judging.model import NAME
from bears.answers.judging.ruling import Case, Item
from bears.answers.judging.tables import table, write_judged
from bears.errors import ConfigurationError
from bears.files.benchmark_state import BenchmarkState
from bears.files.records import sha256_of, write_json
from bears.files.shown import complain
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
    "reference": "questions have no gold answer; their scores are undefined",
    "gold": "answers equal the gold answers, all of them: does the file hold the gold?",
}
ENOUGH = 10
"""Answers that can't all equal the gold by chance."""


@dataclass(frozen=True, kw_only=True)
class Scored:
    """What answers are scored against, and where their figures go, as options.

    Args:
        benchmark: its records must be in data/
        out: a JSON file for the figures
        questions: a CSV file with each question's answer, its scores, and what went wrong, which
            `bears compare` reads
    """

    benchmark: str = ""
    folder: Path | None = None
    unattested: bool = False
    language: str = ""
    system: str = ""
    out: Path | None = None
    questions: Path | None = None
    ignore_unknown: bool = False


def score(file: Path, scored: Scored) -> None:
    """Score a file of answers.

    Reads JSON Lines or a JSON list of {question_id, answer, evidence: [doc_id or paragraph]}, where
    evidence may be absent; QASPER's {question_id, predicted_answer, predicted_evidence};
    {results: [such a list]}; one object {question_id: answer}; or CSV or .xlsx with the columns
    question_id, answer and, as a JSON list, evidence. Without ids, question is the text. Scores the
    answers with QASPER's official evaluation: a question without an answer scores 0.

    Args:
        file: the answers
    """
    judge_file(file, scored, judge="none")


def judge_file(
    file: Path,
    scored: Scored,
    *,
    judge: str,
    yes: bool = False,
    give_up: bool = False,
    set_: Sequence[str] = (),
) -> None:
    """Judge a file of answers.

    Reads the forms of `answers score`, and gives its scores too. A verdict is pass, fail, or
    unscored if it can't be known; a question without an answer fails. A model's verdicts are kept
    in data/memory/BENCHMARK.verdicts.jsonl and never paid for twice.

    Args:
        file: the answers
        judge: one of conf/judge
        give_up: count as unscored what the server refuses by a code
        set_: a Hydra override of the judge: --set judge.budget=5
    """
    records = records_of(scored.benchmark, scored.folder, scored.unattested)
    language = language_of(records.folder, scored.language)
    chosen = None if judge == "none" else judge_named(judge, set_)
    paths = records_in(records.folder, file)
    rows = read_unjudged(records.questions, paths, language, ignore_unknown=scored.ignore_unknown)
    rows = with_items(rows, chosen, records.corpus, records.nuggets)
    replies = records.benchmark.name
    known = verdicts_of(chosen, cases_of(rows), language, replies, yes, give_up)
    rows = judged(rows, chosen, language, known)
    # Rankings alone need no answers.
    faults = {} if chosen and chosen.scale == "relevance" else faults_in(rows)
    results, state = results_of(rows), records.state
    name = scored.system or file.name
    if scored.questions:
        write_judged(scored.questions, rows)
    if scored.out:
        about = {"benchmark": state.as_dict(), "language": language}
        about |= {"judge": judge, "system": name, "faults": faults}
        write_json(scored.out, about | results)
    if scored.system:
        warnings = [*faults, *(["unscored"] if results["all"]["unscored"] else [])]
        who = judge if chosen else ""
        add_row(state, scored.system, sha256_of(file), results["all"], warnings, who)
    by = f", judged by {one_line(judge)}," if chosen else ""
    print(f"{one_line(name)}{by} on {state}")
    print(table(results))
    for kind, count in faults.items():
        complain(f"warning: {count} {FAULTS[kind]}")


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


def faults_in(rows: Sequence[JudgedQuestion]) -> dict[str, int]:
    """Return how many questions have each kind of `FAULTS` that occurs."""
    counts = Counter(kind for kind, _ in {(kind, row.key) for row in rows for kind in row.faults})
    counts["reference"] = len({row.key for row in rows if row.score.answer_f1 is None})
    answered = [row for row in rows if row.trace.answer is not None]
    given = {row.key for row in answered}
    if len(given) >= ENOUGH and all(r.score.reference == r.trace.answer for r in answered):
        counts["gold"] = len(given)
    return {kind: counts[kind] for kind in FAULTS if counts[kind]}


def judge_named(name: str, overrides: Sequence[str]) -> AnyJudge:
    """Return the judge of conf/judge/NAME.yaml."""
    judge = judge_of(selected(composed("", [f"judge={name}", *overrides])).judge)
    if judge is None:
        raise ConfigurationError(f"--judge {name} has no judge; choose another")
    return judge


def verdicts_of(
    judge: AnyJudge | None,
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
