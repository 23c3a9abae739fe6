"""Two systems' judged answers to the same questions, and people's labels of some."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from bears.answers.judging.labelable import Labelable
from bears.answers.judging.labels import WORDS
from bears.config.ledger.entries import LabelDraw
from bears.errors import FormatError
from bears.evaluation.labeling import Items
from bears.files.records import digest_of
from bears.files.spreadsheet import read_named

JUDGED = ("question_id", "question", "gold_answers", "answer", "verdict")
GUESSES = (0.6, 0.3, 0.1, 0.6, 0.3)
"""The squared difference of labels to expect where the judge passes the second system alone, none,
both, or the first alone, or does not know."""


def judged_in(path: Path, called: str) -> dict[str, dict[str, str]]:
    """Return question_id to a row of a system's judged answers.

    Args:
        path: a .questions.csv, as `bears.answers.judging.tables.write_judged` writes it.
        called: its name in messages.

    Raises:
        FormatError: a column is missing.
    """
    header, rows = read_named(path)
    if missing := [name for name in JUDGED if name not in header]:
        raise FormatError(
            f"{called}: no column {', '.join(missing)}; name a .questions.csv of judged answers"
        )
    # Of repeats the first counts.
    return {row["question_id"]: row for _, row in reversed([*rows])}


@dataclass(frozen=True)
class Pair(Labelable):
    """Two systems' judged answers to the same questions.

    Args:
        ours, theirs: question_id to a row of `JUDGED`.
    """

    ours: Mapping[str, Mapping[str, str]]
    theirs: Mapping[str, Mapping[str, str]]

    columns = ("question", "gold_answers", "answer_1", "answer_2")
    blanks = ("label_1", "label_2")
    words = {word: int(label) for word, label in WORDS.items() if label is not None}  # noqa: RUF012

    @cached_property
    def questions(self) -> list[str]:
        """Return the ids of the questions that both have."""
        return sorted(self.ours.keys() & self.theirs.keys())

    @cached_property
    def key(self) -> str:
        """Return what the ledger calls the pair: digests of the answers."""
        both = (self.ours, self.theirs)
        answers = ({q: rows[q]["answer"] for q in self.questions} for rows in both)
        return " ".join(digest_of(each)[:12] for each in answers)

    @property
    def names(self) -> Sequence[tuple[str, str]]:
        """Return the id of each question."""
        return [(question, "") for question in self.questions]

    @property
    def items(self) -> Items:
        """Return the questions; a label is the difference of both answers' labels."""
        n, strata = len(self.questions), np.array(self.strata, int)
        return Items(np.ones(n), np.zeros(n), strata, GUESSES, np.arange(n), n, -1, 1)

    @cached_property
    def strata(self) -> list[int]:
        """Return the place in `GUESSES` of each question."""
        known = {("fail", "pass"): 0, ("fail", "fail"): 1, ("pass", "pass"): 2, ("pass", "fail"): 3}
        rows = ((self.ours[q]["verdict"], self.theirs[q]["verdict"]) for q in self.questions)
        return [known.get(verdicts, 4) for verdicts in rows]

    def swapped(self, draw: LabelDraw) -> bool:
        """Return whether the second system's answer is shown first."""
        return bool(sha256(f"{self.key} {draw.draw}".encode()).digest()[0] % 2)

    def row(self, draw: LabelDraw) -> list[Any]:
        """Return the question, the gold and both answers, in random order."""
        row, question = self.ours[draw.question_id], draw.question_id
        answers = [self.ours[question]["answer"], self.theirs[question]["answer"]]
        shown = answers[::-1] if self.swapped(draw) else answers
        return [row["question"], row["gold_answers"], *shown]

    def given(self, draw: LabelDraw, labels: Sequence[int]) -> list[int]:
        """Return the label of the first system's answer, then that of the second's."""
        return list(reversed(labels)) if self.swapped(draw) else list(labels)

    def value(self, draw: LabelDraw) -> float:
        """Return by how much the first system's label is better; the mean over people."""
        return fmean(ours - theirs for ours, theirs in draw.labels.values())
