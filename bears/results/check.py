"""What is to be said of a submission before its score is believed."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bears.files.shown import one_line
from bears.results.submission import Submission, SubmittedRanking
from bears.types import Finding, Question

EMPTY = "has no document for any question of this benchmark, so there is nothing to score"

FASTEST, SLOWEST = 1e-5, 3600.0
"""Seconds a question beyond which a stated time is hard to believe."""


@dataclass(frozen=True, slots=True)
class CheckedSubmission:
    """A submission whose questions are those of the benchmark.

    Args:
        lists: question_id to its documents as submitted, but for those that are ignored, for the
            questions that the benchmark has; of a question that comes twice, the first.
        findings: errors refuse the submission, warnings stand beside its score.
        facts: coverage, lengths of lists, repeated documents.
    """

    lists: Mapping[str, tuple[str, ...]]
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
    """Hold a submission against the benchmark.

    Args:
        submission: what was read.
        questions: of the benchmark.
        doc_ids: its documents.
        k: the depth at which it will be scored; shorter lists are suspicious.
        ignore_identical_ids: whether documents under their question's own id are left out.
        ignore_unknown: whether questions that the benchmark lacks are left out, or are errors.
    """
    names = {q.question if submission.by_text else q.question_id: q.question_id for q in questions}
    lists: dict[str, tuple[str, ...]] = {}
    for row in submission.rows:
        if row.question in names:
            lists.setdefault(names[row.question], row.doc_ids)
    own = [i for i, ids in lists.items() if ignore_identical_ids and i in ids]
    lists |= {i: tuple(d for d in lists[i] if d != i) for i in own}
    findings = (
        *_own(own),
        *_empty(lists),
        *_questions(submission, names, ignore_unknown),
        *(_warning("doubtful_scores", "submission", remark) for remark in submission.remarks),
        *_missing(lists, questions),
        *_documents(lists, doc_ids, submission.form),
        *_lengths(lists, questions, k),
        *_gold(submission.rows, names, {q.question_id: q for q in questions}),
        *_time(submission.seconds_per_question),
    )
    return CheckedSubmission(lists, findings, _facts(lists, questions))


def _warning(check: str, record_id: str, message: str) -> Finding:
    return Finding(check, "warning", record_id, message)


def _empty(lists: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    if not any(lists.values()):
        yield Finding("empty", "error", "submission", EMPTY)


def _questions(
    submission: Submission, names: Mapping[str, str], ignore_unknown: bool
) -> Iterator[Finding]:
    counts = Counter(row.question for row in submission.rows)
    unknown = counts.keys() - names.keys()
    if unknown and ignore_unknown:
        message = f"{len(unknown)} questions are none of this benchmark and are ignored"
        yield _warning("ignored_question", one_line(min(unknown)), message)
    for question, times in counts.items():
        shown = one_line(question)
        if question in unknown and not ignore_unknown:
            message = (
                "is not a question of this benchmark; --ignore-unknown leaves such questions out"
            )
            yield Finding("unknown_question", "error", shown, message)
        if times > 1:
            yield Finding("repeated_question", "error", shown, f"stands {times} times")


def _own(question_ids: Sequence[str]) -> Iterator[Finding]:
    if question_ids:
        message = f"{len(question_ids)} lists hold their question as a document; it is left out"
        yield _warning("identical_id", question_ids[0], message)


def _missing(
    lists: Mapping[str, Sequence[str]], questions: Sequence[Question]
) -> Iterator[Finding]:
    missing = [q.question_id for q in questions if q.question_id not in lists]
    if missing:
        share = f"{len(missing)} of {len(questions)} questions"
        message = f"{share} are missing, this one first; they count as unanswered"
        yield _warning("missing_question", missing[0], message)


def _documents(
    lists: Mapping[str, Sequence[str]], doc_ids: Collection[str], form: str
) -> Iterator[Finding]:
    known = frozenset(doc_ids)
    unknown = {d for ids in lists.values() for d in ids if d not in known}
    if unknown:
        message = f"{len(unknown)} documents are not of this benchmark, this one among them"
        yield _warning("unknown_document", one_line(min(unknown)), message)
    # PandaChat's lists name the document of every chunk, so that repeating one is their form.
    if form != "pandachat":
        for question_id, ids in lists.items():
            if len(set(ids)) < len(ids):
                message = "its list names a document twice"
                yield Finding("repeated_document", "error", question_id, message)


def _lengths(
    lists: Mapping[str, Sequence[str]], questions: Sequence[Question], k: int
) -> Iterator[Finding]:
    wanting = {q.question_id for q in questions if q.gold_doc_ids or not q.judged}
    short = [i for i, ids in lists.items() if i in wanting and 0 < len(ids) < k]
    # A few short lists are a system's own choice; most of them short say that k was never tried.
    if 2 * len(short) > len(lists):
        lengths = Counter(len(lists[i]) for i in short)
        (length, _), *_ = lengths.most_common(1)
        message = (
            f"{len(short)} of {len(lists)} lists are shorter than k={k}, most of them with "
            f"{length} {'source' if length == 1 else 'sources'}: what is scored at k={k} is in "
            f"truth scored at k={length}"
        )
        yield _warning("short_list", short[0], message)


def _gold(
    rows: Sequence[SubmittedRanking], names: Mapping[str, str], questions: Mapping[str, Question]
) -> Iterator[Finding]:
    other = [
        row
        for row in rows
        if row.gold
        and row.question in names
        and row.gold not in questions[names[row.question]].gold_doc_ids
    ]
    if other:
        stated = f"the file states another gold for {len(other)} questions, this one first"
        message = f"{stated}; the benchmark's own is used"
        yield _warning("other_gold", names[other[0].question], message)


def _time(seconds: float | None) -> Iterator[Finding]:
    if seconds is not None and not FASTEST <= seconds <= SLOWEST:
        message = f"{seconds} s a question is hard to believe"
        yield _warning("suspicious_time", "submission", message)


def _facts(lists: Mapping[str, Sequence[str]], questions: Sequence[Question]) -> dict[str, float]:
    lengths = [len(ids) for ids in lists.values()] or [0]
    return {
        "questions": len(questions),
        "answered": sum(1 for ids in lists.values() if ids),
        "listed": len(lists),
        "shortest_list": min(lengths),
        "median_list": median(lengths),
        "longest_list": max(lengths),
        "lists_that_repeat_a_document": sum(len(set(ids)) < len(ids) for ids in lists.values()),
    }
