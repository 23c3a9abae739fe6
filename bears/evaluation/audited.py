"""Gold as persons decided on it, beside the published gold, and how much of a run is judged."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum

from bears.config.ledger.entries import PairDecision
from bears.evaluation.evaluate import Evaluation, evaluate, gold_of
from bears.evaluation.measure import Measure
from bears.evaluation.tie_bounds import Gold
from bears.files.run_table import RunTable
from bears.types import Question

RELEVANT, PARTIAL = 2, 1
"""Grades on the audited gold, where a published grade counts twice: so that half of the least one
is a whole number."""
TOP = 10


@dataclass(frozen=True)
class Audited:
    """What persons decided of a benchmark.

    Attributes:
        gold: the published gold with every decision, its grades doubled.
        judged: question_id to the documents that somebody judged, its gold or not; without the
            questions of which nobody judged anything.
        gone: decisions about a question or a document that is not in the benchmark.
        kept: all others.
    """

    gold: Gold
    judged: Mapping[str, Collection[str]]
    gone: Sequence[PairDecision]
    kept: Sequence[PairDecision]

    @property
    def counts(self) -> dict[str, int]:
        """How many of the kept decisions say what."""
        return dict(sorted(Counter(one.decision for one in self.kept).items()))


def audited(
    questions: Sequence[Question], doc_ids: Collection[str], judgements: Iterable[PairDecision]
) -> Audited:
    """The gold of ``questions`` with what was decided of it.

    A relevant document that is no gold yet weighs what a gold document of grade 1 does, a partial
    one half of that. A question whose last relevant document was refused is not judged any more.
    """
    published = gold_of(questions)
    kept: list[PairDecision] = []
    gone: list[PairDecision] = []
    decided: defaultdict[str, dict[str, PairDecision]] = defaultdict(dict)
    for one in judgements:
        known = one.question_id in published and one.doc_id in doc_ids
        (kept if known else gone).append(one)
        if known:
            decided[one.question_id][one.doc_id] = one
    return Audited(
        gold={i: _with(grades, decided[i]) for i, grades in published.items()},
        judged={
            i: (grades or {}).keys() | decided[i]
            for i, grades in published.items()
            if grades is not None or decided[i]
        },
        gone=gone,
        kept=kept,
    )


def _with(
    published: Mapping[str, int] | None, decided: Mapping[str, PairDecision]
) -> dict[str, int] | None:
    grades = {doc_id: 2 * grade for doc_id, grade in (published or {}).items()}
    for doc_id, one in decided.items():
        if one.decision == "relevant":
            grades[doc_id] = max(RELEVANT, grades.get(doc_id, 0))
        elif one.decision == "partial":
            grades[doc_id] = PARTIAL
        else:
            grades.pop(doc_id, None)
    return grades if grades or published == {} else None


def evaluate_audited(run: RunTable, gold: Gold, measures: Sequence[Measure]) -> Evaluation:
    """Measure ``run`` on the gold of an `Audited`.

    nDCG takes a partial document at half the gain; for every other measure it is not relevant, as
    in trec_eval with ``-l 2``.
    """
    relevant = {
        question_id: grades and ({i: g for i, g in grades.items() if g >= RELEVANT} or None)
        for question_id, grades in gold.items()
    }
    strict = evaluate(run, relevant, measures)
    graded = evaluate(run, gold, [measure for measure in measures if measure.metric.graded])
    return replace(strict, values={**strict.values, **graded.values})


def judged_share(
    run: RunTable, judged: Mapping[str, Collection[str]]
) -> dict[str, float | int | None]:
    """How much of what the run has at the top was judged by anybody.

    Returns:
        ``judged@10``: the share of the first ten documents of a question that are judged, averaged
        over the questions of ``judged`` that have any; None where none has. ``unjudged@10``: how
        many documents among them are not.
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
