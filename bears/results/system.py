"""What one system scored, and how we know."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bears.config.ledger.entries import PairDecision
from bears.errors import FormatError
from bears.evaluation.clusters import clusters_of
from bears.evaluation.comparison.values import CLUSTER, SOURCE, TYPE, Measured
from bears.evaluation.evaluate import Evaluation
from bears.files.chunk_run import read_chunk_run
from bears.files.spreadsheet import read_named
from bears.files.traces import read_traces
from bears.files.trec import read_table
from bears.results.costs import Costs
from bears.results.revision import Revision
from bears.results.values import QUESTION
from bears.retrieval.levels import documents_of
from bears.trace import Search, Trace
from bears.types import Question, Ranking, Run, whole_documents

Judged = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class UnreadTexts:
    """Texts that a model did not read to their end.

    Args:
        cut, texts: how many of how many.
        share: of the texts that were cut, the part that was not read, from 0 to 1.
    """

    cut: int
    texts: int
    share: float


@dataclass(frozen=True, slots=True)
class Doubts:
    """What may void the numbers of a system.

    Args:
        undefined: measure to the number of questions without a value.
        ceiling: measure to the best possible mean, if below the best value.
        unmatched: passages from no document.
        unread: the texts that a model did not read to their end, by their kind.
        lost: quotations that were not found.
    """

    undefined: Mapping[str, int] = field(default_factory=dict)
    ceiling: Mapping[str, float] = field(default_factory=dict)
    unmatched: int = 0
    unread: tuple[UnreadTexts, ...] = ()
    lost: int = 0


@dataclass(frozen=True)
class System(Measured):
    """What one system scored, and how we know.

    Args:
        revision: the origin of the results; None for a file.
        decisions: of people, which the gold has.
        chunks: the run of the chunks from which ``run`` ranks documents.
        ranked: the rankings of a submission that is not a run file.
        files: a generator's answers, and the judgements of them by question.
        traced: a file of traces; of a question's repeats, `traces` and `judged` have the first.
        repeated: the values that have repeats, by question, repeat and judgement.
        costing: finds the costs, which not every command needs.
    """

    revision: Revision | None = None
    decisions: Sequence[PairDecision] = ()
    chunks: Path | None = None
    ranked: Run = field(default_factory=dict)
    files: tuple[Path, Path] | None = None
    traced: Path | None = None
    repeated: pd.DataFrame = field(default_factory=pd.DataFrame)
    costing: Callable[[], Costs] = Costs
    doubts: Doubts = field(default_factory=Doubts)

    @property
    def retriever(self) -> str:
        """Return the retriever that the revision selects; empty for a file."""
        return str(self.revision.selection.get("retriever", "")) if self.revision else ""

    @cached_property
    def costs(self) -> Costs:
        """Return the times and the price, as far as they are known."""
        return self.costing()

    @cached_property
    def rankings(self) -> Mapping[str, Ranking]:
        """Return question_id to its documents, best first. Raises FormatError."""
        if self.traced:
            return {key: documents_of(trace.ranking) for key, trace in self.traces.items()}
        if self.run is None:
            return self.ranked
        return read_table(self.run, set(self.values.index), ignore_unknown=True).rankings()

    @cached_property
    def traces(self) -> Mapping[str, Trace]:
        """Return question_id to what the system did. Raises FormatError.

        What the run does not say of a search is empty.
        """
        if self.chunks:
            found = read_chunk_run(self.chunks, set(self.values.index))
        else:
            found = whole_documents({} if self.traced else self.rankings)
        traces = {
            key: Trace(question_id=key, searches=(Search("", ranking),))
            for key, ranking in found.items()
        }
        written = self.files[0] if self.files else self.traced
        # Of repeats the first stays.
        for each in reversed(list(read_traces(written))) if written else ():
            key, by_run = each.question_id, traces.get(each.question_id)
            searches = each.searches or (by_run.searches if by_run else None)
            traces[key] = replace(each, searches=searches)
        return traces

    @cached_property
    def judged(self) -> Judged:
        """Return question_id to the judgement of its answer. Raises FormatError."""
        return _judged(self.files[1]) if self.files else {}

    def defined(self, measure: str) -> list[float]:
        """Return the defined values of a measure."""
        return [float(value) for value in self.values[measure].dropna()]


def _judged(judgements: Path) -> Judged:
    header, lines = read_named(judgements)
    if QUESTION not in header:
        raise FormatError(f"{judgements}: no column {QUESTION} among {header!r:.80}")
    # Of repeats the first stays.
    return {row[QUESTION]: row for _, row in reversed(list(lines))}


def frames_of(
    evaluation: Evaluation, questions: Sequence[Question], lineage: Path | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the values and the kinds by question that a `System` has.

    Args:
        lineage: of the questions, if there is one; see `clusters_of`.
    """
    ids = pd.Index([q.question_id for q in questions], dtype=object, name=QUESTION)
    kinds = {
        TYPE: [q.question_type for q in questions],
        SOURCE: [q.source_dataset for q in questions],
        CLUSTER: clusters_of(questions, lineage).astype(str),
    }
    values = {name: np.asarray(column, float) for name, column in evaluation.values.items()}
    return pd.DataFrame(values, index=ids), pd.DataFrame(kinds, index=ids)
