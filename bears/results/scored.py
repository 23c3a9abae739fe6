"""The scores of a submission."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.errors import SubmissionRefused
from bears.evaluation.evaluate import Evaluation, evaluate, gold_of, summarize
from bears.evaluation.measure import parse_measure
from bears.evaluation.measures.kor_map_official import official_score
from bears.evaluation.measures.retrieval_accuracy import correct_retrievals
from bears.files.digest import sha256_of
from bears.files.visible import one_line
from bears.results.board import number
from bears.results.check import CheckedSubmission, check
from bears.results.records import Records
from bears.results.row import MEASURES, LeaderboardRow, submitted
from bears.results.submission import Submission, read_submission
from bears.types import Finding, Question

DEPTHS = (1, 2)
"""The k of the counts that are shown; PandaChat's table has the second."""
SHOWN = 10


@dataclass(frozen=True)
class ScoredSubmission:
    """The scores of a submission, with the findings about it.

    Args:
        file: as it was submitted.
        system: its name on the leaderboard.
        submission, checked: the submission before and after the check against the benchmark.
        evaluation: the values by question.
    """

    file: Path
    records: Records
    system: str
    submission: Submission
    checked: CheckedSubmission
    evaluation: Evaluation

    @property
    def judged(self) -> list[Question]:
        """Return the questions whose gold is known."""
        return [question for question in self.records.questions if question.judged]

    def correct(self, k: int, different: bool = False) -> int:
        """Return the number of questions with gold among their first k sources, as submitted.

        Args:
            different: count a repeated document only once.
        """
        lists = [self.checked.lists.get(question.question_id, ()) for question in self.judged]
        sources = [tuple(dict.fromkeys(ids)) for ids in lists] if different else lists
        return correct_retrievals(sources, [q.gold_doc_ids for q in self.judged], k)

    @property
    def values(self) -> dict[str, float | None]:
        """Return the mean of every measure.

        The official Korean score and PandaChat's accuracy are computed from the lists as submitted,
        the latter without documents that the benchmark ignores.
        """
        means = summarize(self.evaluation)
        values = {name: means[name] for name in self.evaluation.values}
        if "kor_map_official" in values:
            gold = gold_of(self.records.questions)
            wanted = {q: list(grades) for q, grades in gold.items() if grades is not None}
            rows = [
                (row.question, row.doc_ids)
                for row in self.submission.rows
                if row.question in wanted
            ]
            values["kor_map_official"] = official_score(rows, wanted) if rows else None
        for measure in map(parse_measure, list(values)):
            if measure.name.startswith("retrieval_accuracy@") and measure.k and self.judged:
                share = self.correct(measure.k) / len(self.judged)
                values[measure.name] = 100 * share
        return values

    def report(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        n = len(self.judged)
        return {
            "benchmark": self.records.state.as_dict(),
            "system": self.system,
            "form": self.submission.form,
            "facts": dict(self.checked.facts),
            "correct_retrieval": {
                f"top {k}": {
                    "count": (count := self.correct(k)),
                    "of": n,
                    "per": 100 * count / n,
                    "in_documents": self.correct(k, different=True),
                }
                for k in DEPTHS
                if n
            },
            "measures": self.values,
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
        means = [[name, number(mean) or "–"] for name, mean in report["measures"].items()]
        lines = [f"{self.system} ({report['form']}) on {self.records.state}"]
        lines.append(tabulate([*facts, *counts, *means], tablefmt="plain", disable_numparse=True))
        if not counts:
            lines.append("the gold of this benchmark is unknown: nothing is scored")
        lines += [f"warning: {warning}" for warning in report["warnings"]]
        return "\n".join(lines)

    def row(self) -> LeaderboardRow:
        """Return its row on the leaderboard."""
        values = self.values
        if self.submission.form == "pandachat" and (n := len(self.judged)):
            values |= {f"retrieval_accuracy@{k}": 100 * self.correct(k) / n for k in DEPTHS}
            values["success@2"] = self.correct(2, different=True) / n
        return submitted(
            self.records.state,
            self.system,
            sha256_of(self.file)[:12],
            answered=int(self.checked.facts["answered"]),
            values={name: value for name, value in values.items() if name in MEASURES},
            seconds_per_question=self.submission.seconds_per_question,
            warnings=", ".join(sorted({finding.check for finding in self.checked.findings})),
            main=self.records.evaluate.main,
        )


def score(
    file: Path,
    records: Records,
    measures: Sequence[str],
    system: str = "",
    ignore_unknown: bool = False,
    findings: Sequence[Finding] = (),
) -> ScoredSubmission:
    """Score a file of results.

    Args:
        file: of any form that `read_submission` knows.
        measures: names of measures.
        system: its name; empty: the one in the file, or the file's own.
        ignore_unknown: skip questions that the benchmark lacks.
        findings: findings about the benchmark itself.

    Raises:
        FormatError: the file is malformed.
        SubmissionRefused: it does not fit the benchmark.
    """
    submission = read_submission(file)
    checked = check(
        submission,
        records.questions,
        records.doc_ids,
        DEPTHS[-1],
        records.retrieve.ignore_identical_ids,
        ignore_unknown,
    )
    if errors := [finding for finding in checked.findings if finding.severity == "error"]:
        lines = [f"  {f.check}: {f.record_id}: {f.message}" for f in errors[:SHOWN]]
        lines += [f"  … and {len(errors) - SHOWN} more"] * (len(errors) > SHOWN)
        raise SubmissionRefused(f"{file}: the submission is refused:\n" + "\n".join(lines))
    asked = [parse_measure(name) for name in dict.fromkeys(measures)]
    return ScoredSubmission(
        file,
        records,
        one_line(system or submission.system or file.stem),
        submission,
        replace(checked, findings=(*findings, *checked.findings)),
        evaluate(checked.run, records.decided.gold, asked),
    )
