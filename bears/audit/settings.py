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
        covers: share of what a gold document has of its question that the sentences with the answer
            have too.
        stands_in: share of what a gold document has of its question, and of the other gold
            documents, that a candidate has too, near the answer.
        alone: the same where there is no other gold document.
        weak_stands_in: the same for an answer that says little by itself …
        weak_question: … where the gold document has so much of the whole question.
        weak_covers: or, of the question alone …
        weak_much: … where the gold document has so much of it.
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
    covers: Share
    stands_in: Share
    alone: Share
    weak_stands_in: Share
    weak_question: Share
    weak_covers: Share
    weak_much: Share
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
        if weak:
            whole = stands_in >= self.weak_stands_in and gold_covers >= self.weak_question
            return whole or (covers >= self.weak_covers and gold_covers >= self.weak_much)
        return covers >= self.covers and stands_in >= (self.alone if alone else self.stands_in)
