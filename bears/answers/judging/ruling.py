"""What a judge sees, what it can say, and its ruling."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol

from bears.files.intake.yaml_text import table_of

Verdict = str
"""A word of a `Scale`, or ``unscored``: unknown, never the lowest."""
UNSCORED = "unscored"
VITAL, UNCITED = "vital", "uncited"
"""Notes of items: a nugget that an answer must have, and a sentence without a citation."""
VALUES: Mapping[str, float] = {"pass": 1.0, "fail": 0.0, UNSCORED: math.nan}
"""The value of each verdict on an answer."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What a judge can say of a thing.

    Args:
        values: each word with its value, the lowest first.
        texts: names of the texts that the judge reads; the last one is judged.
    """

    values: Mapping[str, float]
    texts: tuple[str, ...]


SCALES = {
    name: Scale(own["values"], tuple(own["texts"])) for name, own in table_of(__file__).items()
}
"""What is judged, to its scale. Grades of relevance are those of UMBRELA (Upadhyay et al., arXiv
2406.06519); the others are those of TREC's RAG track of 2024."""
RELEVANT = 2
"""The grade from which on a document is relevant, as in TREC's deep learning tracks and UMBRELA's
binary measures: one of grade 1 has the subject of the question, and no answer."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict with a short reason; a judge that compares words gives no reason."""

    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One answer to one question.

    Args:
        question: as it was asked, after the earlier turns of a conversation.
        golds: right answers; any of them will do.
        aliases: other names of the gold answer; too short to compare words with (對, 有).
        answer: a system's answer, without its citations; empty if it gave none.
    """

    question_id: str
    question: str
    golds: tuple[str, ...]
    answer: str
    aliases: tuple[str, ...] = ()
    scale: ClassVar[str] = "answers"

    @property
    def texts(self) -> dict[str, Any]:
        """Return what the judge reads, by the names of the scale."""
        names = SCALES[self.scale].texts
        return {name: getattr(self, name) for name in names}

    def known(self) -> Ruling | None:
        """Return the ruling on a case that needs no judge, or None."""
        if not self.golds:
            return Ruling(UNSCORED, "no right answer is known")
        return None if self.answer else Ruling("fail", "no answer")


@dataclass(frozen=True, slots=True)
class Item:
    """A document, a nugget or a cited sentence, with the text on which it is judged.

    Args:
        scale: one of `SCALES`.
        name: which one of the question's: a doc_id, or a number.
        texts: by the names of the scale.
        note: vital or okay, of a nugget; what is cited, of a sentence.
        beside: the texts of all nuggets of the question.
    """

    scale: str
    question_id: str
    name: str
    texts: Mapping[str, str]
    note: str = ""
    beside: tuple[str, ...] = ()

    def known(self) -> Ruling | None:
        """Return the lowest ruling if there is no text to judge, or None."""
        scale = SCALES[self.scale]
        if self.texts[scale.texts[-1]].strip():
            return None
        return Ruling(next(iter(scale.values)), f"no {scale.texts[-1]}")


@dataclass(frozen=True, slots=True)
class Graded:
    """An item with the ruling on it."""

    item: Item
    ruling: Ruling

    def credit(self, unscored: int) -> float:
        """Return the value of the ruling.

        Args:
            unscored: what an unscored item counts as: 0, the lowest value, or -1, the highest.
        """
        values = SCALES[self.item.scale].values
        return values.get(self.ruling.verdict, [*values.values()][unscored])

    def row(self) -> dict[str, str]:
        """Return what the table of judged answers keeps, which has question and answer itself."""
        item = self.item
        # The documents are in the benchmark.
        known = ("question", "answer", "passage" if item.scale == "relevance" else "")
        texts = {name: text for name, text in item.texts.items() if name not in known}
        about = {"scale": item.scale, "name": item.name, "note": item.note}
        return {**about, **asdict(self.ruling), **texts}


class Judge(Protocol):
    """Judges by the words of texts alone."""

    scale: ClassVar[str]
    """One of `SCALES`."""

    def verdict(self, case: Any, language: str) -> Verdict:
        """Return the verdict on a `Case` or an `Item`, given the BCP 47 tag of its language."""
