"""Check a submission against a benchmark, and score it."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from tabulate import tabulate

from bears.errors import SubmissionRefused
from bears.evaluation.answers.predictions import id_by_text
from bears.evaluation.evaluate import Evaluation, evaluate, gold_of, parse_measure, summarize
from bears.evaluation.measures.kor_map_official import official_score
from bears.evaluation.tie_bounds import relevant
from bears.files.records import sha256_of
from bears.files.trec import run_of_rankings
from bears.files.visible import one_line
from bears.results.board import cell
from bears.results.records import Records
from bears.results.row import MEASURES, LeaderboardRow, submitted
from bears.results.submission import Submission, SubmittedRanking, read_submission
from bears.types import Chunk, ChunkHit, Finding, Question, Run

Lists = Mapping[str, tuple[str, ...]]
DEPTHS = (1, 2)
"""The k of the counts that are shown; PandaChat's table has the second. Lists that are shorter than
that are suspicious."""
COUNTED = ("retrieval_accuracy", "success")
"""The measures that count the questions with gold: among the sources as submitted, and among
different documents."""
SHOWN = 10


@dataclass(frozen=True, slots=True)
class CheckedSubmission:
    """A submission whose questions are those of the benchmark.

    Args:
        lists: question_id to the submitted documents, without those that are ignored, for the
            questions that the benchmark has. The first list of a repeated question counts.
        run: the same as rankings.
        findings: errors refuse the submission, warnings are shown beside its score.
        facts: coverage, lengths of lists, repeated documents.
    """

    lists: Lists
    run: Run
    findings: tuple[Finding, ...]
    facts: Mapping[str, float]


def check(
    submission: Submission,
    questions: Sequence[Question],
    doc_ids: Collection[str],
    ignore_identical_ids: bool = False,
    ignore_unknown: bool = False,
) -> CheckedSubmission:
    """Check a submission against the benchmark.

    Args:
        submission: what was read.
        questions: of the benchmark.
        doc_ids: its documents.
        ignore_identical_ids: remove documents that have their question's own id.
        ignore_unknown: skip questions that the benchmark lacks; otherwise they are errors.

    Raises:
        FormatError: a text names a question, and several questions have it.
    """
    known = {question.question_id: question for question in questions}
    # PandaChat's rows name questions by their text.
    find = id_by_text(questions) if submission.form == "pandachat" else lambda text, _: text
    rows = [replace(row, question=find(row.question, "")) for row in submission.rows]
    first: dict[str, SubmittedRanking] = {}
    for row in rows:
        if row.question in known:
            first.setdefault(row.question, row)
    lists = {i: row.doc_ids for i, row in first.items()}
    own = [i for i, ids in lists.items() if ignore_identical_ids and i in ids]
    lists |= {i: tuple(d for d in lists[i] if d != i) for i in own}
    run = {
        i: tuple(hit for hit in row.ranking if i not in own or hit.doc_id != i)
        for i, row in first.items()
    }
    findings = (
        *_of_questions(rows, known, ignore_unknown),
        *(_warning("doubtful_scores", "submission", remark) for remark in submission.remarks),
        *_of_lists(lists, own, questions),
        *_of_documents(lists, doc_ids, submission.form),
        *_short(lists, questions),
    )
    lengths = [len(ids) for ids in lists.values()] or [0]
    facts = {
        "questions": len(questions),
        "answered": sum(map(bool, lists.values())),
        "listed": len(lists),
        "shortest_list": min(lengths),
        "median_list": median(lengths),
        "longest_list": max(lengths),
        "lists_that_repeat_a_document": len(_repeating(lists)),
    }
    return CheckedSubmission(lists, run, findings, facts)


def _warning(check: str, record_id: str, message: str) -> Finding:
    return Finding(check, "warning", record_id, message)


def _of_questions(
    rows: Sequence[SubmittedRanking], known: Mapping[str, Question], ignore_unknown: bool
) -> Iterator[Finding]:
    counts = Counter(row.question for row in rows)
    unknown = counts.keys() - known.keys()
    if unknown and ignore_unknown:
        message = f"{len(unknown)} questions are not in this benchmark and are ignored"
        yield _warning("ignored_question", one_line(min(unknown)), message)
    for question, times in counts.items():
        if question in unknown and not ignore_unknown:
            message = "is not a question of this benchmark; --ignore-unknown skips such questions"
            yield Finding("unknown_question", "error", one_line(question), message)
        if times > 1:
            message = f"occurs {times} times"
            yield Finding("repeated_question", "error", one_line(question), message)


def _of_lists(lists: Lists, own: Sequence[str], questions: Sequence[Question]) -> Iterator[Finding]:
    if own:
        message = f"{len(own)} lists hold their question as a document, which is removed"
        yield _warning("identical_id", own[0], message)
    if not any(lists.values()):
        message = "has no document for any question of this benchmark; there is nothing to score"
        yield Finding("empty", "error", "submission", message)
    if missing := [q.question_id for q in questions if q.question_id not in lists]:
        message = f"{len(missing)} of {len(questions)} questions are missing, this one first; they "
        yield _warning("missing_question", missing[0], f"{message}count as unanswered")


def _of_documents(lists: Lists, doc_ids: Collection[str], form: str) -> Iterator[Finding]:
    if unknown := {d for ids in lists.values() for d in ids}.difference(doc_ids):
        message = f"{len(unknown)} documents are not of this benchmark, this one among them"
        yield _warning("unknown_document", one_line(min(unknown)), message)
    # PandaChat's lists name the document of every chunk, and so repeat documents.
    if form != "pandachat":
        for question_id in _repeating(lists):
            message = "its list names a document twice"
            yield Finding("repeated_document", "error", question_id, message)


def _repeating(lists: Lists) -> list[str]:
    return [question_id for question_id, ids in lists.items() if len(set(ids)) < len(ids)]


def _short(lists: Lists, questions: Sequence[Question]) -> Iterator[Finding]:
    k = DEPTHS[-1]
    wanting = {q.question_id for q in questions if q.gold_doc_ids or not q.judged}
    short = [i for i, ids in lists.items() if i in wanting and 0 < len(ids) < k]
    # A few short lists are a system's own choice; if most are short, it never retrieved k.
    if 2 * len(short) > len(lists):
        ((length, _),) = Counter(len(lists[i]) for i in short).most_common(1)
        message = (
            f"{len(short)} of {len(lists)} lists are shorter than k={k}, most of them with "
            f"{length} {'source' if length == 1 else 'sources'}: a score at k={k} is in fact one "
            f"at k={length}"
        )
        yield _warning("short_list", short[0], message)


@dataclass(frozen=True)
class ScoredSubmission:
    """The scores of a submission, with the findings about it.

    Args:
        file: as it was submitted.
        system: its name on the leaderboard.
        submission, checked: the submission before and after the check against the benchmark.
        evaluation: the values by question.
        counted: the values of `COUNTED` at each of `DEPTHS`.
    """

    file: Path
    records: Records
    system: str
    submission: Submission
    checked: CheckedSubmission
    evaluation: Evaluation
    counted: Evaluation

    @property
    def judged(self) -> list[Question]:
        """Return the questions whose gold is known."""
        return [question for question in self.records.questions if question.judged]

    def correct(self, measure: str) -> int:
        """Return the number of questions for which a measure of ``counted`` is not 0."""
        return int((self.counted.values[measure] > 0).sum())

    @property
    def values(self) -> dict[str, float | None]:
        """Return the mean of every measure.

        The official Korean score is computed from the lists as submitted.
        """
        means = summarize(self.evaluation)
        values = {name: means[name] for name in self.evaluation.values}
        if "kor_map_official" in values:
            gold = gold_of(self.records.questions)
            wanted = {q: [*relevant(own)] for q, own in gold.items() if own is not None}
            asked = (row for row in self.submission.rows if row.question in wanted)
            rows = [(row.question, row.doc_ids) for row in asked]
            values["kor_map_official"] = official_score(rows, wanted) if rows else None
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
                    "count": (count := self.correct(f"retrieval_accuracy@{k}")),
                    "of": n,
                    "per": 100 * count / n,
                    "in_documents": self.correct(f"success@{k}"),
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
        facts = [[name.replace("_", " "), cell(x)] for name, x in report["facts"].items()]
        means = [[name, cell(mean) or "–"] for name, mean in report["measures"].items()]
        lines = [f"{self.system} ({report['form']}) on {self.records.state}"]
        lines.append(tabulate([*facts, *counts, *means], tablefmt="plain", disable_numparse=True))
        if not counts:
            lines.append("the gold of this benchmark is unknown: nothing is scored")
        lines += [f"warning: {warning}" for warning in report["warnings"]]
        return "\n".join(lines)

    def row(self) -> LeaderboardRow:
        """Return its row on the leaderboard."""
        values = self.values
        if self.submission.form == "pandachat" and self.judged:
            values |= summarize(self.counted)
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
        records.retrieve.ignore_identical_ids,
        ignore_unknown,
    )
    if errors := [finding for finding in checked.findings if finding.severity == "error"]:
        lines = [f"  {f.check}: {f.record_id}: {f.message}" for f in errors[:SHOWN]]
        lines += [f"  … and {len(errors) - SHOWN} more"] * (len(errors) > SHOWN)
        raise SubmissionRefused(f"{file}: the submission is refused:\n" + "\n".join(lines))
    asked = [parse_measure(name) for name in dict.fromkeys(measures)]
    counted = [parse_measure(f"{name}@{k}") for name in COUNTED for k in DEPTHS]
    gold, run = records.decided.gold, run_of_rankings(checked.run)
    sources = {
        question_id: tuple(ChunkHit(Chunk(doc_id), 0.0) for doc_id in ids)
        for question_id, ids in checked.lists.items()
    }
    return ScoredSubmission(
        file,
        records,
        one_line(system or submission.system or file.stem),
        submission,
        replace(checked, findings=(*findings, *checked.findings)),
        evaluate(run, gold, asked, chunks=sources),
        evaluate(run, gold, counted, chunks=sources),
    )
