"""The settings that all retrievers share: ``retrieve`` in the configuration."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import FiniteFloat

from bears.errors import ConfigurationError
from bears.types import ChunkHit, ForbidsExtra, Hit, Positive, Question

H = TypeVar("H", Hit, ChunkHit)


@dataclass(frozen=True)
class RetrieveSettings(ForbidsExtra):
    """How the index is searched.

    Args:
        depth: documents per question.
        score_threshold: leave out documents of a lower score, so that a question may get
            no document; null: keep all.
        ignore_identical_ids: leave out the document under the question's own id, as BEIR's
            evaluation and Anserini's ``-removeQuery`` do: the questions of ArguAna and Quora are
            documents themselves, so their best match would be that document.
    """

    depth: Positive
    score_threshold: FiniteFloat | None
    ignore_identical_ids: bool

    def check(self, questions: Iterable[Question]) -> None:
        """Raise ConfigurationError if ignoring identical ids would leave out gold."""
        for question in questions:
            if any(self.ignores(question.question_id, gold) for gold in question.gold_doc_ids):
                raise ConfigurationError(
                    f"retrieve.ignore_identical_ids is true, but the question "
                    f"{question.question_id!r} has the document of that id as its gold: here the "
                    "same id does not mean the same text. Add retrieve.ignore_identical_ids=false "
                    "to the overrides"
                )

    def ignores(self, question_id: str, doc_id: str) -> bool:
        """Return whether a document, and each chunk of it, is left out of a question's ranking."""
        return self.ignore_identical_ids and question_id == doc_id

    def kept(self, question_id: str, ranking: Sequence[H]) -> tuple[H, ...]:
        """Return the hits that count for a question."""
        lowest = self.score_threshold
        return tuple(
            hit
            for hit in ranking
            if (lowest is None or hit.score >= lowest) and not self.ignores(question_id, hit.doc_id)
        )
