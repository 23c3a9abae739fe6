"""Find the step at which a question went wrong, as one word of a closed list."""

from bears.answers.judging.ruling import Verdict
from bears.trace import Trace
from bears.types import Question

CAUSES = (
    *("right", "right_with_part_of_gold", "right_without_gold"),
    *("not_retrieved", "beyond_shown", "cut", "reader", "closed_book"),
    *("read_not_used", "answered_without"),
    *("no_answer", "judge_doubt", "unknown", "unscored"),
)
"""docs/answers.md explains them. A question has the first obstacle that it met. A multi-hop
question needs all of its gold, and any other question one gold document."""
OBSTACLES = ("not_retrieved", "beyond_shown", "cut", "reader")
"""Where a gold document may have stopped, in the order of the pipeline."""


def gold_places(question: Question, trace: Trace) -> dict[str, str]:
    """Return each gold document with the obstacle at which it stopped, ``reader`` if shown."""
    gold, retrieved = list(filter(question.answered_by, trace.shown or ())), trace.retrieved

    def place(doc_id: str) -> str:
        shown = [chunk for chunk in gold if chunk.doc_id == doc_id]
        if shown:
            return "cut" if set(shown) <= set(trace.cut) else "reader"
        missed = retrieved is not None and doc_id not in retrieved
        return "not_retrieved" if missed else "beyond_shown"

    return {doc_id: place(doc_id) for doc_id in question.gold_doc_ids}


def cause_of(
    question: Question, verdict: Verdict, trace: Trace, answered: bool, words: Verdict
) -> str:
    """Return a word of `CAUSES`.

    Args:
        answered: whether there is an answer.
        words: pass if the answer contains the gold answer, fail if they share no word, else
            unscored.
    """
    if not answered:
        return "no_answer"
    if verdict == "unscored":
        return "unscored"
    if {verdict, words} == {"pass", "fail"}:
        return "judge_doubt"
    if trace.shown is None and question.gold_doc_ids and (found := trace.retrieved) is not None:
        seen = not found.isdisjoint(question.gold_doc_ids)
        if verdict == "pass":
            return "right" if seen else "answered_without"
        return "read_not_used" if seen else "not_retrieved"
    places = list(gold_places(question, trace).values())
    if verdict == "pass":
        missing = [place for place in places if place in OBSTACLES[:2]]
        if not missing or trace.shown is None:
            return "right"
        return "right_without_gold" if len(missing) == len(places) else "right_with_part_of_gold"
    if trace.searches == ():
        return "closed_book"
    if not question.judged or trace.shown is None:
        return "unknown"
    needed = min if question.question_type == "multi-hop" else max
    return needed(places, key=OBSTACLES.index, default="reader")
