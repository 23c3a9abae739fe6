"""The gold with people's decisions, and the judged share of a run."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path

from bears.config.ledger.entries import PairDecision
from bears.evaluation.evaluate import gold_of
from bears.evaluation.tie_bounds import Gold
from bears.files.records import stream_documents
from bears.files.trec import RunTable
from bears.language.quotations import QuotedText
from bears.types import Question, Span

PARTIAL = 0.5
"""The grade of a partially relevant document, half of the lowest one that a source gives."""
TOP = 10
WEIGHT = ("", "not", "partial", "relevant")
"""Of several decisions about a document, the one that comes last here counts; "" says nothing."""


@dataclass(frozen=True)
class Decided:
    """A benchmark's questions with people's decisions.

    Attributes:
        questions: with every decision in their gold, but for partially relevant documents. One
            whose last relevant document was rejected is not judged.
        gold: the grades of these questions, and `PARTIAL` for partially relevant documents.
        judged: question_id to its judged documents, gold or not; without questions of which
            no document is judged.
        gone: decisions about a question or a document that is not in the benchmark.
        kept: all other decisions.
    """

    questions: Sequence[Question]
    gold: Gold
    judged: Mapping[str, Collection[str]]
    gone: Sequence[PairDecision]
    kept: Sequence[PairDecision]

    @property
    def facts(self) -> list[tuple[str, ...]]:
        """Return what the kept decisions say, without who says it and why."""
        return sorted((*judgement.place, judgement.decision) for judgement in self.kept)


def decided_in(
    corpus: Path, questions: Sequence[Question], judgements: Sequence[PairDecision]
) -> Decided:
    """Apply people's decisions to the gold of questions over the documents in a file."""
    # Only decisions need to know the documents, and a corpus may be large.
    documents = stream_documents(corpus) if judgements else ()
    return decided(questions, {each.doc_id: each.content for each in documents}, judgements)


def decided(
    questions: Sequence[Question], contents: Mapping[str, str], judgements: Iterable[PairDecision]
) -> Decided:
    """Apply people's decisions to the gold of ``questions``.

    A relevant document that is not in the source's gold gets grade 1, a partially relevant one
    half of that. A document is as relevant as its most relevant passage; a passage that is not
    relevant says nothing of the rest of its document.

    Args:
        contents: doc_id to text.
    """
    known = {question.question_id for question in questions}
    kept: list[PairDecision] = []
    gone: list[PairDecision] = []
    weighed: defaultdict[str, dict[str, str]] = defaultdict(dict)
    spans: defaultdict[str, list[Span]] = defaultdict(list)
    for judgement in judgements:
        text, quotation = contents.get(judgement.doc_id), judgement.quotation
        match = QuotedText(text or "").find(quotation) if quotation else None
        if judgement.question_id not in known or text is None or (quotation and not match):
            gone.append(judgement)
            continue
        kept.append(judgement)
        if match and judgement.decision == "relevant":
            span = Span(judgement.doc_id, match.start, match.end, quotation)
            spans[judgement.question_id].append(span)
        decision = "" if match and judgement.decision == "not" else judgement.decision
        of_question = weighed[judgement.question_id]
        before = of_question.get(judgement.doc_id, "")
        of_question[judgement.doc_id] = max(before, decision, key=WEIGHT.index)
    changed = [
        _with(each, weighed[each.question_id], spans[each.question_id]) for each in questions
    ]
    partial = {
        key: {doc_id: PARTIAL for doc_id, word in words.items() if word == "partial"}
        for key, words in weighed.items()
    }
    gold = {
        key: {**(grades or {}), **partial[key]} if partial[key] else grades
        for key, grades in gold_of(changed).items()
    }
    return Decided(
        questions=changed,
        gold=gold,
        judged={
            each.question_id: {*each.judgements, *weighed[each.question_id]}
            for each in questions
            if each.judged or weighed[each.question_id]
        },
        gone=gone,
        kept=kept,
    )


def _with(question: Question, decisions: Mapping[str, str], spans: Sequence[Span]) -> Question:
    if not decisions:
        return question
    grades, rejected = question.grades, dict(question.not_relevant)
    for doc_id, decision in decisions.items():
        if decision == "relevant":
            grades.setdefault(doc_id, 1)
        elif decision:
            grades.pop(doc_id, None)
        if decision == "not":
            rejected.setdefault(doc_id, 0)
        elif decision:
            rejected.pop(doc_id, None)
    none_is_right = question.judged and not question.gold_doc_ids
    return replace(
        question,
        gold_doc_ids=tuple(grades),
        gold_grades=tuple(grades.values()) if question.gold_grades else (),
        gold_spans=(*(s for s in question.gold_spans if s.doc_id in grades), *spans),
        not_relevant=tuple(rejected.items()),
        judged=bool(grades) or (none_is_right and "partial" not in decisions.values()),
    )


def judged_share(
    run: RunTable, judged: Mapping[str, Collection[str]]
) -> dict[str, float | int | None]:
    """Return how many of the first documents of a run are judged.

    Returns:
        ``judged@10``: the judged share of a question's first ten documents, averaged over the
        questions of ``judged`` that have any; None if there are no such questions.
        ``unjudged@10``: the number of unjudged documents among them.
    """
    shares, unjudged = [], 0
    starts = run.starts.tolist()
    for row, question_id in enumerate(run.question_ids):
        codes = run.documents[starts[row] : min(starts[row + 1], starts[row] + TOP)].tolist()
        if question_id in judged and codes:
            known = sum(run.doc_ids[code] in judged[question_id] for code in codes)
            shares.append(known / len(codes))
            unjudged += len(codes) - known
    mean = fsum(shares) / len(shares) if shares else None
    return {"judged@10": mean, "unjudged@10": unjudged}
