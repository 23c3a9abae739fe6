"""The gold with people's decisions beside the published gold, and the judged share of a run."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum

from bears.config.ledger.entries import PairDecision
from bears.evaluation.evaluate import Evaluation, evaluate, gold_of
from bears.evaluation.measure import Measure
from bears.evaluation.spans import SpanRankings
from bears.evaluation.tie_bounds import Gold
from bears.files.run_table import RunTable
from bears.language.quotations import QuotedText
from bears.types import Question, Span

RELEVANT, PARTIAL = 2, 1
"""Grades on the audited gold. Published grades are doubled there, so that half of the lowest one
is a whole number."""
TOP = 10
WEIGHT = ("", "not", "partial", "relevant")
"""Of several decisions about a document, the one that comes last here counts; "" says nothing."""


@dataclass(frozen=True)
class Audited:
    """A benchmark's gold with people's decisions.

    Attributes:
        gold: the published gold with every decision, its grades doubled.
        judged: question_id to its judged documents, gold or not; without questions of which
            no document is judged.
        gone: decisions about a question or a document that is not in the benchmark.
        kept: all other decisions.
        spans: question_id to its gold spans, and the passages that people found relevant.
    """

    gold: Gold
    judged: Mapping[str, Collection[str]]
    gone: Sequence[PairDecision]
    kept: Sequence[PairDecision]
    spans: Mapping[str, Sequence[Span]]

    @property
    def counts(self) -> dict[str, int]:
        """Count the kept decisions of each kind."""
        return dict(sorted(Counter(judgement.decision for judgement in self.kept).items()))


def audited(
    questions: Sequence[Question], contents: Mapping[str, str], judgements: Iterable[PairDecision]
) -> Audited:
    """Apply people's decisions to the gold of ``questions``.

    A relevant document that is not in the published gold gets the weight of a gold document of
    grade 1, a partially relevant one half of that. A question whose last relevant document was
    rejected becomes unjudged. A document is as relevant as its most relevant passage; a passage
    that is not relevant says nothing of the rest of its document.

    Args:
        contents: doc_id to text.
    """
    published = gold_of(questions)
    kept: list[PairDecision] = []
    gone: list[PairDecision] = []
    decided: defaultdict[str, dict[str, str]] = defaultdict(dict)
    spans = {question.question_id: [*question.gold_spans] for question in questions}
    for judgement in judgements:
        text, quotation = contents.get(judgement.doc_id), judgement.quotation
        match = QuotedText(text or "").find(quotation) if quotation else None
        if judgement.question_id not in published or text is None or (quotation and not match):
            gone.append(judgement)
            continue
        kept.append(judgement)
        if match and judgement.decision == "relevant":
            span = Span(judgement.doc_id, match.start, match.end, quotation)
            spans[judgement.question_id].append(span)
        decision = "" if match and judgement.decision == "not" else judgement.decision
        of_question = decided[judgement.question_id]
        before = of_question.get(judgement.doc_id, "")
        of_question[judgement.doc_id] = max(before, decision, key=WEIGHT.index)
    return Audited(
        gold={key: _with(grades, decided[key]) for key, grades in published.items()},
        judged={
            key: (grades or {}).keys() | decided[key]
            for key, grades in published.items()
            if grades is not None or decided[key]
        },
        gone=gone,
        kept=kept,
        spans=spans,
    )


def _with(
    published: Mapping[str, int] | None, decisions: Mapping[str, str]
) -> dict[str, int] | None:
    grades = {doc_id: 2 * grade for doc_id, grade in (published or {}).items()}
    for doc_id, decision in decisions.items():
        if decision == "relevant":
            grades[doc_id] = max(RELEVANT, grades.get(doc_id, 0))
        elif decision == "partial":
            grades[doc_id] = PARTIAL
        elif decision == "not":
            grades.pop(doc_id, None)
    return grades if grades or published == {} else None


def evaluate_audited(
    run: RunTable, gold: Gold, measures: Sequence[Measure], spans: SpanRankings | None = None
) -> Evaluation:
    """Measure ``run`` on the gold of an `Audited`, and its chunks on ``spans``.

    nDCG gives a partially relevant document half the gain. All other measures treat it as not
    relevant, as trec_eval does with ``-l 2``.
    """
    relevant = {
        question_id: grades and ({i: g for i, g in grades.items() if g >= RELEVANT} or None)
        for question_id, grades in gold.items()
    }
    strict = evaluate(run, relevant, measures, spans)
    graded = evaluate(run, gold, [measure for measure in measures if measure.metric.graded])
    return replace(strict, values={**strict.values, **graded.values})


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
