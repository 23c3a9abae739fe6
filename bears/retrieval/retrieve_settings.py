"""What is asked of every retriever alike, as ``retrieve`` in the configuration has it."""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import FiniteFloat

from bears.errors import ConfigurationError
from bears.types import Closed, Positive, Question, Ranking


@dataclass(frozen=True)
class RetrieveSettings(Closed):
    """How questions are asked.

    Args:
        depth: documents a question.
        score_threshold: documents of a lower score are left out, so that a question may get
            none; null: none is.
        ignore_identical_ids: whether the document under the question's own id is left out, as
            BEIR's evaluation and Anserini's ``-removeQuery`` do: ArguAna and Quora ask for what
            answers a document, or says the same, and the best match is that document itself.
    """

    depth: Positive
    score_threshold: FiniteFloat | None
    ignore_identical_ids: bool

    def check(self, questions: Iterable[Question]) -> None:
        """Raise ConfigurationError where ignoring identical ids would leave out gold."""
        for question in questions:
            if any(self.ignores(question.question_id, gold) for gold in question.gold_doc_ids):
                raise ConfigurationError(
                    f"retrieve.ignore_identical_ids is true, but the question "
                    f"{question.question_id!r} has the document of that id as its gold: here the "
                    "same id does not mean the same text. Add retrieve.ignore_identical_ids=false "
                    "to the overrides"
                )

    def ignores(self, question_id: str, doc_id: str) -> bool:
        """Whether a document is left out of a question's ranking."""
        return self.ignore_identical_ids and doc_id == question_id

    def kept(self, question_id: str, ranking: Ranking) -> Ranking:
        """The hits that count for a question."""
        lowest = self.score_threshold
        return tuple(
            hit
            for hit in ranking
            if (lowest is None or hit.score >= lowest) and not self.ignores(question_id, hit.doc_id)
        )
