"""Where the signals of an audit begin to count."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from bears.types import Closed

Share = Annotated[float, Field(gt=0, le=1)]
Count = Annotated[int, Field(gt=0)]


@dataclass(frozen=True)
class AuditSettings(Closed):
    """As ``audit.signals`` in the configuration has it.

    Args:
        depth: how many documents of the retriever's ranking are looked at.
        covers: the sentences with the answer have so much of the question, as a multiple of the
            share that the gold document has of it.
        stands_in: share of what a gold document has of its question, and of the other gold
            documents, that a candidate has too, near the answer, beside the answer itself.
        alone: the same where there is no other gold document, and for a weak answer.
        subject: share of the pairs of characters of the question's own subject that a candidate
            has, see `bears.quality.audit.pool.Pool.names_subject`.
        weak_depth: for an answer that says little by itself, how many are looked at instead …
        weak_question: … of a gold document that has so much of the whole question.
        common: an answer that stands in a greater share of the documents says little.
        common_at_least: in as many documents it may stand in any case.
        sentences: of a candidate so many before and after the answer are looked at.
        one_document: share of a multi-hop question that one document with its answer has at most.
        same: share of a text that stands in another one, from which they are near duplicates.
        shingle: characters that are compared at once, where spaces part words; a third of them
            elsewhere.
        longest_question: words, or twice as many characters where no spaces part words.
        repeated_passage: a passage that stands in more documents is what all of them have.
    """

    depth: Count
    covers: Annotated[float, Field(gt=0)]
    stands_in: Share
    alone: Share
    subject: Share
    weak_depth: Count
    weak_question: Share
    common: Share
    common_at_least: Count
    sentences: Count
    one_document: Share
    same: Share
    shingle: Annotated[int, Field(ge=6)]
    longest_question: Count
    repeated_passage: Annotated[int, Field(ge=2)]

    def agree(
        self, stands_in: float, covers: float, gold_covers: float, weak: bool, alone: bool
    ) -> bool:
        """Whether the shares make a candidate; see the settings of their names."""
        least = self.alone if weak or alone else self.stands_in
        much = not weak or gold_covers >= self.weak_question
        return much and covers >= self.covers and stands_in >= least
