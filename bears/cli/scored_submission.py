"""What a submission scores against a benchmark, and its rows on the leaderboard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabulate import tabulate

from bears.evaluation.evaluate import Evaluation, evaluate, gold_of, summarise
from bears.evaluation.measure import parse_measure
from bears.evaluation.measures.kor_map_official import official_score
from bears.evaluation.measures.retrieval_accuracy import correct_retrievals
from bears.files.benchmark_state import BenchmarkState
from bears.files.shown import one_line
from bears.publishing.leaderboard import pandachat
from bears.publishing.leaderboard.board import number
from bears.publishing.leaderboard.row import MEASURES, LeaderboardRow, submission_row
from bears.results.check import CheckedSubmission
from bears.results.submission import Submission
from bears.types import Hit, Question


@dataclass(frozen=True)
class ScoredSubmission:
    """What a submission scored, and what is to be said beside it.

    Args:
        state: of the benchmark.
        system: what it is called on the leaderboard.
        submission, checked: as read, and as held against the benchmark.
        values: measure to its mean.
        judged: how many questions have a known gold.
        correct: k to the questions with gold among the first k sources as submitted.
        correct_in_documents: the same among the first k different documents.
        evaluation, questions: the values by question.
    """

    state: BenchmarkState
    system: str
    submission: Submission
    checked: CheckedSubmission
    values: Mapping[str, float | None]
    judged: int
    correct: Mapping[int, int]
    correct_in_documents: Mapping[int, int]
    evaluation: Evaluation
    questions: Sequence[Question]

    def report(self) -> dict[str, Any]:
        """Plain values for JSON."""
        n = self.judged
        return {
            "benchmark": self.state.told(),
            "system": self.system,
            "form": self.submission.form,
            "facts": dict(self.checked.facts),
            "correct_retrieval": {
                f"top {k}": {
                    "count": count,
                    "of": n,
                    "per": 100 * count / n,
                    "in_documents": self.correct_in_documents[k],
                }
                for k, count in self.correct.items()
                if n
            },
            "measures": dict(self.values),
            "seconds_per_question": self.submission.seconds_per_question,
            "warnings": [f"{f.check}: {f.record_id}: {f.message}" for f in self.checked.findings],
        }

    def __str__(self) -> str:
        report = self.report()
        counts = [
            [f"correct in the {top}", f"{c['count']} of {c['of']} ({c['per']:.2f} %)"]
            for top, c in report["correct_retrieval"].items()
        ]
        facts = [[name.replace("_", " "), number(x)] for name, x in report["facts"].items()]
        means = [[name, number(mean) or "–"] for name, mean in self.values.items()]
        lines = [f"{self.system} ({report['form']}) on {self.state}"]
        lines.append(tabulate([*facts, *counts, *means], tablefmt="plain", disable_numparse=True))
        if not self.judged:
            lines.append("nobody knows the gold of this benchmark: nothing is scored")
        lines += [f"warning: {warning}" for warning in report["warnings"]]
        return "\n".join(lines)

    def leaderboard_row(self, digest: str) -> LeaderboardRow:
        """Its row on the leaderboard; ``digest`` is that of the submitted file."""
        accuracy = {
            f"retrieval_accuracy@{k}": 100 * count / self.judged
            for k, count in self.correct.items()
            if self.pandachat
        }
        values = {**self.values, **accuracy}
        return submission_row(
            self.state,
            self.system,
            digest[:12],
            answered=int(self.checked.facts["answered"]),
            values={name: value for name, value in values.items() if name in MEASURES},
            seconds_per_question=self.submission.seconds_per_question,
            warnings=", ".join(sorted({finding.check for finding in self.checked.findings})),
        )

    @property
    def pandachat(self) -> bool:
        """Whether it belongs into PandaChat's table."""
        return self.submission.form == "pandachat" and self.judged > 0

    def pandachat_row(self, entry: LeaderboardRow, k: int) -> dict[str, Any]:
        """Its row in PandaChat's table, of its ``entry`` on the leaderboard."""
        scenario = one_line(self.submission.scenario)
        counts = self.correct[k], self.correct_in_documents[k], self.judged
        return pandachat.row(entry, scenario, self.system, k, *counts)


def score(
    submission: Submission,
    checked: CheckedSubmission,
    questions: Sequence[Question],
    state: BenchmarkState,
    system: str,
    measures: Sequence[str],
    k: int,
) -> ScoredSubmission:
    """Score a submission that was found to be sound.

    Args:
        submission, checked: as read, and as held against the benchmark.
        questions: of the benchmark, whose state is ``state``.
        system: what it is called.
        measures: names of measures.
        k: of PandaChat's table.
    """
    different = {q: tuple(dict.fromkeys(ids)) for q, ids in checked.lists.items()}
    depths = sorted({1, k})
    evaluation = evaluation_of(checked, questions, measures)
    return ScoredSubmission(
        state=state,
        system=one_line(system),
        submission=submission,
        checked=checked,
        values=_values(submission, checked, questions, evaluation),
        judged=sum(question.judged for question in questions),
        correct={k: _correct(checked.lists, questions, k) for k in depths},
        correct_in_documents={k: _correct(different, questions, k) for k in depths},
        evaluation=evaluation,
        questions=questions,
    )


def evaluation_of(
    checked: CheckedSubmission, questions: Sequence[Question], names: Sequence[str]
) -> Evaluation:
    """Every measure that the benchmark asks for; a list counts each document where it first is."""
    run = {
        question_id: tuple(Hit(d, -float(i)) for i, d in enumerate(dict.fromkeys(ids)))
        for question_id, ids in checked.lists.items()
    }
    measures = [parse_measure(name) for name in dict.fromkeys(names)]
    return evaluate(run, gold_of(questions), measures)


def _values(
    submission: Submission,
    checked: CheckedSubmission,
    questions: Sequence[Question],
    evaluation: Evaluation,
) -> dict[str, float | None]:
    """The mean of every measure.

    The official Korean score and PandaChat's accuracy are those of the lists as submitted, the
    latter without documents that the benchmark ignores.
    """
    gold, means = gold_of(questions), summarise(evaluation)
    measures = [parse_measure(name) for name in evaluation.values]
    values = {measure.name: means[measure.name] for measure in measures}
    if "kor_map_official" in values:
        wanted = {q: list(grades) for q, grades in gold.items() if grades is not None}
        rows = [(row.question, row.doc_ids) for row in submission.rows if row.question in wanted]
        values["kor_map_official"] = official_score(rows, wanted) if rows else None
    judged = sum(question.judged for question in questions)
    for measure in measures:
        if measure.name.startswith("retrieval_accuracy@") and measure.k and judged:
            values[measure.name] = 100 * _correct(checked.lists, questions, measure.k) / judged
    return values


def _correct(lists: Mapping[str, Sequence[str]], questions: Sequence[Question], k: int) -> int:
    judged = [question for question in questions if question.judged]
    sources = [lists.get(question.question_id, ()) for question in judged]
    return correct_retrievals(sources, [question.gold_doc_ids for question in judged], k)
