"""Score answers against the annotators' answers, as the official evaluation of QASPER does."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from bears.evaluation.answers import measures
from bears.evaluation.answers.citebite import citebite_em, citebite_f1
from bears.files.records import read_lines
from bears.language.normalization import normalization_of, without_citations
from bears.language.yes_no import LITERAL, yes_or_no
from bears.trace import Trace
from bears.types import Answer, AnswerType, Question

ENGLISH = ("citebite_f1", "citebite_em")
"""The measures that are defined for answers in English only."""
MEANS = {
    **{name: name for name in ("answer_f1", "exact_match", *ENGLISH)},
    "evidence_f1": "evidence_f1",
    "yes_no_accuracy": "yes_no",
    "unanswerable_detection": "unanswerable",
}
"""Each measure of answers with the field of `AnswerScore` that has its values."""
VALUES = (*MEANS.values(),)


def references_of(question: Question, language: str) -> tuple[Answer, ...]:
    """Return the annotators' answers, or else the gold answer as a yes or no or free form.

    Args:
        question: with its answers and gold.
        language: BCP 47 tag of the gold answer.
    """
    return question.answers or _typed([question.gold_answer], question, language)


def _typed(texts: Iterable[str], question: Question, language: str) -> tuple[Answer, ...]:
    """Give types to the texts of a source without them, and drop empty ones."""
    evidence = question.gold_doc_ids if question.judged else None
    return tuple(
        Answer("yes-no" if yes_or_no(text, language) else "free-form", text, evidence)
        for text in texts
        if text.strip()
    )


def with_references(
    questions: Iterable[Question], references: Mapping[str, Sequence[str]], language: str
) -> list[Question]:
    """Add the answers of further annotators to the questions.

    Args:
        questions: a question with answers of its own keeps them.
        references: question_id to its source's answers, the gold answer first. They are ignored
            if the gold answer has changed since, by translation or correction.
        language: BCP 47 tag of the answers.
    """
    found = []
    for question in questions:
        texts = references.get(question.question_id, ())
        if texts and texts[0] == question.gold_answer and not question.answers:
            question = replace(question, answers=_typed(texts, question, language))
        found.append(question)
    return found


def referenced(
    questions: Iterable[Question], lineage: Path | None, language: str
) -> list[Question]:
    """Return the questions with the answers of all annotators that ``lineage`` has.

    Args:
        questions: of the benchmark. Their gold is the evidence of an answer without its own.
        lineage: what `sample` noted about them, if it is there.
        language: BCP 47 tag of the answers.

    Raises:
        FormatError: a file is malformed.
    """
    rows = (row for _, row in read_lines(lineage)) if lineage else ()
    references = {row["record_id"]: row["references"] for row in rows if "references" in row}
    return with_references(questions, references, language)


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """The scores of one answer; None if a value is undefined.

    Attributes:
        answer_f1, exact_match, evidence_f1: best over the references; 0 for a missing answer.
        citebite_f1, citebite_em: the same; None if the language is not English.
        type: the type of the reference with the best token F1, of the first one if several are
            best; None for a missing answer.
        yes_no: whether the word of yes or no is right; None if no reference is one.
        unanswerable: whether it says "unanswerable"; None if no reference does.
        reference: the text of the reference that gives the type; None for a missing answer.
    """

    answer_f1: float | None = None
    exact_match: float | None = None
    citebite_f1: float | None = None
    citebite_em: float | None = None
    evidence_f1: float | None = None
    type: AnswerType | None = None
    yes_no: float | None = None
    unanswerable: float | None = None
    reference: str | None = None


def score_answers(
    questions: Iterable[Question], traces: Mapping[str, Trace], language: str
) -> dict[str, AnswerScore]:
    """Return question_id to the scores of its answer, for every question, answered or not.

    The scores of a question without a reference answer are undefined. If no answer names
    evidence, evidence F1 is undefined for all; for a question with unknown gold, it always is.

    Args:
        questions: with their annotators' answers, or with one gold answer.
        traces: by question_id, with answers in which "Unanswerable", "Yes" and "No" are literal;
            citation markers are not scored.
        language: BCP 47 tag of the answers.
    """
    answered = [trace for trace in traces.values() if trace.answer is not None]
    with_evidence = any(trace.evidence is not None for trace in answered)
    scores = {}
    for question in questions:
        trace = traces.get(question.question_id)
        references = references_of(question, language)
        score = _score(references, trace, language, with_evidence) if references else None
        scores[question.question_id] = score or AnswerScore()
    return scores


def mean_score(repeats: Sequence[AnswerScore]) -> AnswerScore:
    """Return the means of a question's repeats; its type and reference are those of the first."""
    means: dict[str, Any] = {
        name: _mean(getattr(each, name) for each in repeats) for name in VALUES
    }
    return replace(repeats[0], **means)


def by_answer_type(scores: Iterable[AnswerScore]) -> dict[AnswerType, dict[str, float | None]]:
    """Return the type of the best references to ``n``, ``answer_f1`` and ``exact_match``.

    Types count the answered questions only, as in the official evaluation.
    """
    rows = list(scores)
    found: dict[AnswerType, dict[str, float | None]] = {}
    for kind in get_args(AnswerType):
        if own := [row for row in rows if row.type == kind]:
            found[kind] = {
                "answer_f1": _mean(row.answer_f1 for row in own),
                "exact_match": _mean(row.exact_match for row in own),
                "n": len(own),
            }
    return found


def mean_scores(scores: Iterable[AnswerScore]) -> dict[str, float | None]:
    """Return each of `MEANS` over the questions that have it; None without such a question.

    Those of `ENGLISH` are left out for another language.
    """
    rows = list(scores)
    means = {name: _mean(getattr(row, value) for row in rows) for name, value in MEANS.items()}
    return {name: m for name, m in means.items() if m is not None or name not in ENGLISH}


def _score(
    references: Sequence[Answer], trace: Trace | None, language: str, with_evidence: bool
) -> AnswerScore:
    yes_no = [reference.text for reference in references if reference.type == "yes-no"]
    asks_nothing = any(reference.type == "unanswerable" for reference in references)
    stated = [_evidence(reference) for reference in references]
    # Without evidence in the answers, or with unknown gold, there is nothing to compare.
    gold = [evidence for evidence in stated if evidence is not None] if with_evidence else []
    english = language.split("-")[0] == "en"
    if trace is None or trace.answer is None:
        return AnswerScore(
            answer_f1=0.0,
            exact_match=0.0,
            citebite_f1=0.0 if english else None,
            citebite_em=0.0 if english else None,
            evidence_f1=0.0 if gold else None,
            yes_no=0.0 if yes_no else None,
            unanswerable=0.0 if asks_nothing else None,
        )
    rules, text = normalization_of(language), without_citations(trace.answer)
    evidence = [chunk.doc_id for chunk in trace.evidence or ()]
    texts = [literal(reference) for reference in references]
    f1 = [measures.token_f1(text, each, rules) for each in texts]
    best = references[f1.index(max(f1))]
    return AnswerScore(
        answer_f1=max(f1),
        exact_match=max(measures.exact_match(text, each, rules) for each in texts),
        citebite_f1=max(citebite_f1(text, each) for each in texts) if english else None,
        citebite_em=max(citebite_em(text, each) for each in texts) if english else None,
        evidence_f1=max((measures.evidence_f1(evidence, each) for each in gold), default=None),
        type=best.type,
        yes_no=measures.yes_no_accuracy(text, yes_no, language) if yes_no else None,
        unanswerable=measures.unanswerable_detection(text) if asks_nothing else None,
        reference=literal(best),
    )


def literal(reference: Answer) -> str:
    """Return the text with which a reference is compared."""
    return LITERAL if reference.type == "unanswerable" else reference.text


def _evidence(reference: Answer) -> tuple[str, ...] | None:
    # An annotator who finds no answer has no evidence for it, whatever the file says.
    return () if reference.type == "unanswerable" else reference.evidence_doc_ids


def _mean(values: Iterable[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if defined else None
