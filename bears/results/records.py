"""The records of a benchmark that results are scored against."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bears.config import Config, parse
from bears.files.benchmark_state import BenchmarkState, benchmark_state
from bears.files.records import read_questions, stream_documents
from bears.retrieval.retrieve_settings import RetrieveSettings
from bears.types import Question


@dataclass(frozen=True)
class Records:
    """A benchmark as it lies in a folder.

    Args:
        folder: with ``queries.json`` and ``corpus.json``.
        config: its configuration, or the part of it that an export has.
        own: whether the records are those of the sources in the configuration, and not of a folder
            that is no export.
    """

    folder: Path
    config: Config
    own: bool = True

    @property
    def queries(self) -> Path:
        """Return the file of the questions."""
        return self.folder / "queries.json"

    @property
    def corpus(self) -> Path:
        """Return the file of the documents."""
        return self.folder / "corpus.json"

    @cached_property
    def questions(self) -> Sequence[Question]:
        """Return the questions."""
        return read_questions(self.queries)

    @cached_property
    def doc_ids(self) -> Collection[str]:
        """Return the ids of the documents."""
        return {document.doc_id for document in stream_documents(self.corpus)}

    @cached_property
    def state(self) -> BenchmarkState:
        """Return the state that results of these records are of."""
        own = self.config["sources"] if self.own else {"": {"path": str(self.folder.resolve())}}
        name, files = self.config["benchmark"]["name"], (self.queries, self.corpus)
        return benchmark_state(name, own, len(self.questions), *files)

    @cached_property
    def retrieve(self) -> RetrieveSettings:
        """Return how questions are asked."""
        return parse(RetrieveSettings, self.config["retrieve"], "retrieve")
