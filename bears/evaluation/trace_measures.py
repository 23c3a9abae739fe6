"""The measures of systems that search many times."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from bears.evaluation.metric import Floats
from bears.trace import Trace
from bears.types import Question

FIRST = (1, 2, 3, 5)
"""After how many searches the evidence recall is taken."""
RECALL = "evidence_recall"
FEWER_IS_BETTER = {
    *("searches", "useless_searches", "first_gold_search"),
    *("tool_calls", "calls", "tokens", "usd", "seconds", "false_refusal"),
}
SHARES = {"false_refusal"}
"""Those of `FEWER_IS_BETTER` that are from 0 to 1; the others are amounts, without an end."""
OF_TRACES = (
    rf"{RECALL}(_at_search@[{''.join(map(str, FIRST))}])?|browsecomp_(citation_)?recall|"
    rf"cited_(precision|recall)|{'|'.join(sorted(FEWER_IS_BETTER))}"
)
"""Matches these measures."""
Values = dict[str, float]


def trace_values(questions: Sequence[Question], traces: Mapping[str, Trace]) -> dict[str, Floats]:
    """Return the values of each measure, one per question, NaN where it is undefined.

    A measure that is undefined for every question is left out.

    ``evidence_recall`` is the share of the gold documents that any search found, and
    ``evidence_recall_at_search@n`` that of the first n. ``first_gold_search`` is the number of the
    first search that found one, undefined if none did. A search is among the
    ``useless_searches`` if it found no document that was new. ``cited_precision`` is the share of
    the cited documents that are gold, undefined without one; ``cited_recall`` that of the gold
    documents that are cited. ``searches``, ``tool_calls``, ``calls``, ``tokens``, ``usd`` and
    ``seconds`` are those of the whole question. A question without a trace counts 0 in recall, and
    what a trace does not say is undefined.

    BrowseComp-Plus' program averages over what there is: ``browsecomp_recall`` is undefined without
    a trace, and ``browsecomp_citation_recall`` without a citation.

    Args:
        traces: by question_id.
    """
    cites = any(trace.evidence is not None for trace in traces.values())
    rows = [_row(question, traces.get(question.question_id), cites) for question in questions]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: np.array([row.get(name, np.nan) for row in rows], float) for name in names}
    return {name: column for name, column in columns.items() if not np.isnan(column).all()}


def sign_of(measure: str) -> int:
    """Return 1 if more of a measure is better, and -1 if less is."""
    return -1 if measure in FEWER_IS_BETTER else 1


def _row(question: Question, trace: Trace | None, cites: bool) -> Values:
    gold = set(question.gold_doc_ids)
    if trace is None:
        names = [RECALL, *(f"{RECALL}_at_search@{n}" for n in FIRST)]
        names += ["cited_recall"] if cites else []
        return dict.fromkeys(names, 0.0) if gold else {}
    found = _of_searches(trace, gold)
    if gold and trace.evidence is not None:
        cited = {chunk.doc_id for chunk in trace.evidence}
        found["cited_precision"] = len(cited & gold) / len(cited) if cited else np.nan
        found["cited_recall"] = len(cited & gold) / len(gold)
        found["browsecomp_citation_recall"] = found["cited_recall"] if cited else np.nan
    if trace.tool_calls is not None:
        found["tool_calls"] = trace.tool_calls
    if trace.calls:
        found["calls"] = len(trace.calls)
    tokens = [n for each in trace.calls for n in (each.input_tokens, each.output_tokens)]
    prices = [each.usd for each in trace.calls]
    # A sum of which a part is not known would be too small.
    for name, parts in (("tokens", tokens), ("usd", prices), ("seconds", [trace.seconds])):
        known = [part for part in parts if part is not None]
        if known and len(known) == len(parts):
            found[name] = float(sum(known))
    return found


def _of_searches(trace: Trace, gold: Collection[str]) -> Values:
    if trace.searches is None:
        return {}
    seen: set[str] = set()
    recalls, useless, first = [0.0], 0, np.nan
    for number, search in enumerate(trace.searches, start=1):
        documents = {hit.doc_id for hit in search.passages}
        useless += documents <= seen
        seen |= documents
        if np.isnan(first) and not documents.isdisjoint(gold):
            first = number
        recalls.append(len(seen.intersection(gold)) / max(len(gold), 1))
    found: Values = {"searches": len(trace.searches), "useless_searches": useless}
    if gold:
        found["first_gold_search"] = first
        found[RECALL] = found["browsecomp_recall"] = recalls[-1]
        for n in FIRST:
            found[f"{RECALL}_at_search@{n}"] = recalls[min(n, len(trace.searches))]
    return found
