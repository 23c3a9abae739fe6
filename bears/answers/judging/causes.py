"""Where a question went wrong, in one word of a closed list, from what is known of it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bears.answers.judging.ruling import Verdict
from bears.types import Question

CAUSES = {
    "right": "passed, with all of its gold shown, or with none to be shown",
    "right_with_part_of_gold": "passed, though some of its gold was not shown",
    "right_without_gold": "passed, though none of its gold was shown",
    "not_retrieved": "failed; gold is not in the run: the retriever's",
    "beyond_shown": "failed; gold is in the run, but further down than what was shown",
    "cut": "failed; gold was shown, but shortened",
    "reader": "failed, with its gold shown: the generator's",
    "reader_cannot": "failed, with its gold shown among others, and shown alone as well",
    "reader_distracted": "failed, with its gold shown among others, but not shown alone",
    "closed_book": "failed, and was to be answered without documents",
    "no_answer": "the system gave none",
    "judge_doubt": "the verdict and the words say opposite things: look at the judge",
    "unknown": "failed; nobody knows the gold, or what was shown",
    "unscored": "without a verdict",
}
"""Each word, and when it is said. A question has the first of these obstacles that it met; one of
several hops needs all of its gold, and any other question one document of it."""
OBSTACLES = ("not_retrieved", "beyond_shown", "cut", "reader")
"""Where a gold document can have got to, from the beginning of its way to the end."""


@dataclass(frozen=True, slots=True)
class Context:
    """The documents of one answer.

    Args:
        shown: in the order in which they were shown; None where nobody knows.
        cut: those of them that were shortened.
        cited_not_given: how many citations name nothing that was shown.
    """

    shown: tuple[str, ...] | None = None
    cut: frozenset[str] = frozenset()
    cited_not_given: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of one answer, beside its verdict.

    Args:
        answered: whether there is an answer.
        context: what the generator was shown.
        retrieved: the documents of its run; None where nobody knows.
        closed_book: whether it was to answer without documents.
        words: pass where the gold answer stands in the answer, fail where they have no word in
            common, else unscored.
        oracle: the verdict on the same generator's answer to the gold alone, where there is one.
    """

    answered: bool
    context: Context
    retrieved: Collection[str] | None
    closed_book: bool = False
    words: Verdict = "unscored"
    oracle: Verdict = "unscored"


def places(question: Question, evidence: Evidence) -> dict[str, str]:
    """Each gold document to the obstacle at which it stopped; ``reader`` where it was shown."""
    shown = evidence.context.shown or ()

    def place(doc_id: str) -> str:
        if doc_id in shown:
            return "cut" if doc_id in evidence.context.cut else "reader"
        known = evidence.retrieved is not None and doc_id not in evidence.retrieved
        return "not_retrieved" if known else "beyond_shown"

    return {doc_id: place(doc_id) for doc_id in question.gold_doc_ids}


def cause_of(question: Question, verdict: Verdict, evidence: Evidence) -> str:
    """A word of `CAUSES`."""
    if not evidence.answered:
        return "no_answer"
    if verdict == "unscored":
        return "unscored"
    if {verdict, evidence.words} == {"pass", "fail"}:
        return "judge_doubt"
    stops = places(question, evidence)
    return _of_right(stops, evidence) if verdict == "pass" else _of_wrong(question, stops, evidence)


def _of_right(stops: Mapping[str, str], evidence: Evidence) -> str:
    missing = [stop for stop in stops.values() if stop in OBSTACLES[:2]]
    if not missing or evidence.context.shown is None:
        return "right"
    return "right_without_gold" if len(missing) == len(stops) else "right_with_part_of_gold"


def _of_wrong(question: Question, stops: Mapping[str, str], evidence: Evidence) -> str:
    if evidence.closed_book:
        return "closed_book"
    if not question.judged or evidence.context.shown is None:
        return "unknown"
    needed = min if question.question_type == "multi-hop" else max
    stop = needed(stops.values(), key=OBSTACLES.index, default="reader")
    if stop != "reader" or evidence.oracle == "unscored":
        return stop
    return "reader_cannot" if evidence.oracle == "fail" else "reader_distracted"
