"""The records of a benchmark that results are scored against."""

from collections.abc import Collection, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path

from bears.config.ledger.entries import Judgements, Nuggets
from bears.config.shape import BenchmarkIdentity
from bears.evaluation.decided import Decided, decided_in
from bears.evaluation.settings import EvaluationSettings
from bears.files.benchmark_state import BenchmarkState, benchmark_state
from bears.files.records import read_questions, stream_documents
from bears.layout import lineage_beside
from bears.retrieval.retriever import RetrieveSettings
from bears.types import Question

EXPORTED = "benchmark.json"
"""The file of an export with the benchmark's name, its measures and how its questions are asked."""


@dataclass(frozen=True)
class Records:
    """A benchmark in a folder.

    Args:
        folder: with ``queries.json`` and ``corpus.json``.
        origin: what the records come from, see `bears.config.shape.source_of`.
        benchmark, evaluate, judgements, nuggets, retrieve: the keys of the configuration, or of an
            export, that scoring reads.
    """

    folder: Path
    origin: str
    _: KW_ONLY
    benchmark: BenchmarkIdentity
    evaluate: EvaluationSettings
    judgements: Judgements
    nuggets: Nuggets
    retrieve: RetrieveSettings

    @property
    def queries(self) -> Path:
        """Return the file of the questions."""
        return self.folder / "queries.json"

    @property
    def corpus(self) -> Path:
        """Return the file of the documents."""
        return self.folder / "corpus.json"

    @property
    def lineage(self) -> Path | None:
        """Return the file of where the records come from, if there is one."""
        return lineage_beside(self.folder)

    @cached_property
    def source(self) -> Sequence[Question]:
        """Return the questions with the source's gold."""
        return read_questions(self.queries)

    @cached_property
    def decided(self) -> Decided:
        """Return the questions with people's decisions."""
        return decided_in(self.corpus, self.source, self.judgements)

    @property
    def questions(self) -> Sequence[Question]:
        """Return the questions with people's decisions in their gold."""
        return self.decided.questions

    @cached_property
    def doc_ids(self) -> Collection[str]:
        """Return the ids of the documents."""
        return {document.doc_id for document in stream_documents(self.corpus)}

    @cached_property
    def state(self) -> BenchmarkState:
        """Return the state of these records, which results belong to."""
        name, files = self.benchmark.name, (self.queries, self.corpus)
        return benchmark_state(name, self.origin, len(self.source), *files, self.decided.facts)
