"""What someone else's system retrieved, as its file has it: untrusted in every field."""

from dataclasses import dataclass

LONGEST_ID = 500
"""Characters that an id may have; a longer one is no id."""
LONGEST_LIST = 10_000
"""Documents that one list may have."""


@dataclass(frozen=True, slots=True)
class SubmittedRanking:
    """One question's list.

    Args:
        question: how the file names its question: an id, or (PandaChat) the text of the query.
        doc_ids: as submitted, best first; may repeat a document.
        gold: what the file says is the gold, never used for scoring.
    """

    question: str
    doc_ids: tuple[str, ...]
    gold: str = ""


@dataclass(frozen=True, slots=True)
class Submission:
    """A file of results.

    Args:
        form: ``pandachat``, ``science-ko``, ``bears`` or ``trec``.
        system: what the file calls its system; may be empty.
        rows: one for each line or record, in the file's order; may repeat a question.
        by_text: rows name questions by their text.
        scenario: PandaChat's ``eval_scenario``.
        seconds_per_question: as stated by the file; None where it states none.
        remarks: why one may doubt what it says.
    """

    form: str
    system: str
    rows: tuple[SubmittedRanking, ...]
    by_text: bool = False
    scenario: str = ""
    seconds_per_question: float | None = None
    remarks: tuple[str, ...] = ()
