"""Checks of a submission before its score is believed."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from bears.evaluation.by_text import id_by_text
from bears.files.visible import one_line
from bears.results.submission import Submission, SubmittedRanking
from bears.types import Finding, Question, Run

FASTEST, SLOWEST = 1e-5, 3600.0
"""Seconds per question beyond which a stated time is hard to believe."""

Lists = Mapping[str, tuple[str, ...]]


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
    k: int,
    ignore_identical_ids: bool = False,
    ignore_unknown: bool = False,
) -> CheckedSubmission:
    """Check a submission against the benchmark.

    Args:
        submission: what was read.
        questions: of the benchmark.
        doc_ids: its documents.
        k: the depth of the score; shorter lists are suspicious.
        ignore_identical_ids: remove documents that have their question's own id.
        ignore_unknown: skip questions that the benchmark lacks; otherwise they are errors.

    Raises:
        FormatError: a text names a question, and several questions have it.
    """
    known = {question.question_id: question for question in questions}
    find = id_by_text(questions) if submission.by_text else lambda text, _: text
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
        *_short(lists, questions, k),
        *_other_gold(rows, known),
        *_of_time(submission.seconds_per_question),
    )
    return CheckedSubmission(lists, run, findings, _facts(lists, questions))


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


def _short(lists: Lists, questions: Sequence[Question], k: int) -> Iterator[Finding]:
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


def _other_gold(
    rows: Sequence[SubmittedRanking], known: Mapping[str, Question]
) -> Iterator[Finding]:
    stated = [row for row in rows if row.gold and row.question in known]
    if other := [r.question for r in stated if r.gold not in known[r.question].gold_doc_ids]:
        message = f"the file states another gold for {len(other)} questions, this one first; the "
        yield _warning("other_gold", other[0], f"{message}benchmark's own is used")


def _of_time(seconds: float | None) -> Iterator[Finding]:
    if seconds is not None and not FASTEST <= seconds <= SLOWEST:
        message = f"{seconds} seconds per question are hard to believe"
        yield _warning("suspicious_time", "submission", message)


def _facts(lists: Lists, questions: Sequence[Question]) -> dict[str, float]:
    lengths = [len(ids) for ids in lists.values()] or [0]
    return {
        "questions": len(questions),
        "answered": sum(map(bool, lists.values())),
        "listed": len(lists),
        "shortest_list": min(lengths),
        "median_list": median(lengths),
        "longest_list": max(lengths),
        "lists_that_repeat_a_document": len(_repeating(lists)),
    }
