"""``python -m bears submit``: other people's results, and files for other people's tasks."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.cli.selection import add_benchmark_arguments, results_of
from bears.configuration import parse as config_parse
from bears.errors import SubmissionRefused
from bears.evaluation.evaluate import evaluate, gold_of, summarise
from bears.evaluation.measure import parse
from bears.evaluation.measures.kor_map_official import official_score
from bears.evaluation.measures.retrieval_accuracy import correct_retrievals
from bears.formats.digest import sha256_of
from bears.formats.records import read_questions, stream_documents, write_text
from bears.formats.trec import read_run
from bears.leaderboard import pandachat
from bears.leaderboard.board import BOARD, number, read_board, upsert, write_board
from bears.leaderboard.entry import MEASURES, Entry
from bears.retrieval.settings import Retrieval
from bears.submissions.check import Matched, match
from bears.submissions.read import FORMS, read_submission
from bears.submissions.science_ko import TOP, submission_row
from bears.submissions.submission import Submission, printable
from bears.types import Finding, Hit, Question

SHOWN = 10


def add_commands(parser: argparse.ArgumentParser) -> None:
    """The subcommands of ``submit``."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    scoring = commands.add_parser(
        "score",
        help="score a file of results against our gold",
        description="Read PandaChat JSON, a TREC run, the Korean task's JSON Lines or a BEARS "
        'list ({"system": …, "results": [{"question_id": …, "doc_ids": […]}]}), hold it against '
        "the benchmark, and put its score on the leaderboard. Errors refuse it; warnings stand "
        "beside the score.",
    )
    scoring.add_argument("file", metavar="FILE", type=Path)
    add_benchmark_arguments(scoring)
    scoring.add_argument("--system", default="", help="default: what the file says")
    scoring.add_argument("--form", default="", choices=FORMS, help="default: by the content")
    top = pandachat.TOP
    scoring.add_argument(
        "--top", type=_depth, default=top, help=f"k of PandaChat's table (default {top})"
    )
    scoring.add_argument("--json", action="store_true", help="print the report as JSON")
    scoring.add_argument("--no-board", action="store_true", help="leave the leaderboard alone")
    scoring.set_defaults(run=_score)
    writing = commands.add_parser(
        "write",
        help="write the Korean task's submission file from a run",
        description="Write one line a question: eval_id, standalone_query, topk, answer, "
        "references. Answers are empty: this pipeline retrieves and does not generate.",
    )
    writing.add_argument("run_file", metavar="RUN", type=Path, help="a TREC run")
    writing.add_argument("out", metavar="OUT", type=Path)
    add_benchmark_arguments(writing)
    writing.set_defaults(run=_write)


def _depth(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is not a whole number from 1")
    return int(word)


def _score(arguments: argparse.Namespace) -> None:
    folder, config = results_of(arguments.benchmark, arguments.folder)
    questions = read_questions(folder / "queries.json")
    documents = {document.doc_id for document in stream_documents(folder / "corpus.json")}
    submission = read_submission(arguments.file, arguments.form)
    asked = config_parse(Retrieval, config["retrieve"], "retrieve")
    asked.check(questions)
    matched = match(submission, questions, documents, arguments.top, asked.ignore_identical_ids)
    _refuse(matched.findings)
    score = Score(
        benchmark=arguments.benchmark,
        system=printable(arguments.system or submission.system or arguments.file.stem),
        submission=submission,
        matched=matched,
        values=_values(submission, matched, questions, config["evaluate"]["measures"]),
        judged=sum(question.judged for question in questions),
        correct={k: _correct(matched.lists, questions, k) for k in sorted({1, arguments.top})},
    )
    if not arguments.no_board:
        _publish(score, arguments.file, arguments.top)
    print(json.dumps(score.report(), ensure_ascii=False, indent=2) if arguments.json else score)


@dataclass(frozen=True)
class Score:
    """What a submission scored, and what is to be said beside it."""

    benchmark: str
    system: str
    submission: Submission
    matched: Matched
    values: Mapping[str, float | None]
    judged: int
    correct: Mapping[int, int]

    def report(self) -> dict[str, Any]:
        """Plain values for JSON."""
        n = self.judged
        return {
            "benchmark": self.benchmark,
            "system": self.system,
            "form": self.submission.form,
            "facts": dict(self.matched.facts),
            "correct_retrieval": {
                f"top {k}": {"count": count, "of": n, "per": 100 * count / n}
                for k, count in self.correct.items()
                if n
            },
            "measures": dict(self.values),
            "seconds_per_question": self.submission.seconds_per_question,
            "warnings": [f"{f.check}: {f.record_id}: {f.message}" for f in self.matched.findings],
        }

    def __str__(self) -> str:
        report = self.report()
        counts = [
            [f"correct in the {top}", f"{c['count']} of {c['of']} ({c['per']:.2f} %)"]
            for top, c in report["correct_retrieval"].items()
        ]
        facts = [[name.replace("_", " "), number(x)] for name, x in report["facts"].items()]
        means = [[name, number(mean) or "–"] for name, mean in self.values.items()]
        lines = [f"{self.system} on {self.benchmark} ({report['form']})"]
        lines.append(tabulate([*facts, *counts, *means], tablefmt="plain", disable_numparse=True))
        if not self.judged:
            lines.append("nobody knows the gold of this benchmark: nothing is scored")
        lines += [f"warning: {warning}" for warning in report["warnings"]]
        return "\n".join(lines)


def _values(
    submission: Submission,
    matched: Matched,
    questions: Sequence[Question],
    names: Sequence[str],
) -> dict[str, float | None]:
    """Every measure that the benchmark asks for; a list counts each document where it first is.

    The official Korean score and PandaChat's accuracy are those of the lists as submitted, the
    latter without documents that the benchmark ignores.
    """
    run = {
        question_id: tuple(Hit(d, -float(i)) for i, d in enumerate(dict.fromkeys(ids)))
        for question_id, ids in matched.lists.items()
    }
    gold = gold_of(questions)
    measures = [parse(name) for name in dict.fromkeys(names)]
    means = summarise(evaluate(run, gold, measures), list(gold))
    values = {measure.name: means[measure.name] for measure in measures}
    if "kor_map_official" in values:
        wanted = {q: list(grades) for q, grades in gold.items() if grades is not None}
        rows = [(row.question, row.doc_ids) for row in submission.rows if row.question in wanted]
        values["kor_map_official"] = official_score(rows, wanted) if rows else None
    judged = sum(question.judged for question in questions)
    for measure in measures:
        if measure.name.startswith("retrieval_accuracy@") and measure.k and judged:
            values[measure.name] = 100 * _correct(matched.lists, questions, measure.k) / judged
    return values


def _correct(lists: Mapping[str, Sequence[str]], questions: Sequence[Question], k: int) -> int:
    judged = [question for question in questions if question.judged]
    sources = [lists.get(question.question_id, ()) for question in judged]
    return correct_retrievals(sources, [question.gold_doc_ids for question in judged], k)


def _refuse(findings: Sequence[Finding]) -> None:
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        lines = [f"  {f.check}: {f.record_id}: {f.message}" for f in errors[:SHOWN]]
        if len(errors) > SHOWN:
            lines.append(f"  … and {len(errors) - SHOWN} more")
        raise SubmissionRefused("the submission is refused:\n" + "\n".join(lines))


def _publish(score: Score, file: Path, k: int) -> None:
    questions, answered = (int(score.matched.facts[name]) for name in ("questions", "answered"))
    pandachat_form = score.submission.form == "pandachat" and score.judged > 0
    accuracy = {
        f"retrieval_accuracy@{k}": 100 * count / score.judged
        for k, count in score.correct.items()
        if pandachat_form
    }
    entry = Entry(
        benchmark=score.benchmark,
        system=score.system,
        configuration=sha256_of(file)[:12],
        origin="submission",
        questions=questions,
        answered=answered,
        values={
            name: value for name, value in {**score.values, **accuracy}.items() if name in MEASURES
        },
        seconds_per_question=score.submission.seconds_per_question,
        warnings=", ".join(sorted({finding.check for finding in score.matched.findings})),
    )
    write_board(BOARD, upsert(read_board(BOARD), [entry]))
    if pandachat_form:
        scenario, seconds = score.submission.scenario, score.submission.seconds_per_question
        row = pandachat.row(
            printable(scenario), score.system, k, seconds, score.correct[k], score.judged
        )
        pandachat.update(BOARD.with_name(f"{score.benchmark}.json"), [row])


def _write(arguments: argparse.Namespace) -> None:
    folder, config = results_of(arguments.benchmark, arguments.folder)
    questions = read_questions(folder / "queries.json")
    run = read_run(arguments.run_file, {question.question_id for question in questions})
    asked = config_parse(Retrieval, config["retrieve"], "retrieve")
    wanted = {hit.doc_id for ranking in run.values() for hit in ranking[:TOP]}
    texts = {
        document.doc_id: document.content
        for document in stream_documents(folder / "corpus.json")
        if document.doc_id in wanted
    }
    rows = [submission_row(q, asked.text(q), run.get(q.question_id, ()), texts) for q in questions]
    # The task's own order of fields, which sorted keys would lose.
    lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows]
    write_text(arguments.out, "".join(f"{line}\n" for line in lines))
    print(f"{arguments.out}: {len(rows)} questions")
