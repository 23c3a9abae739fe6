"""What people label, of two systems: items with a weight, and the table in which they do it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, ClassVar

import numpy as np

from bears.config.ledger.entries import LabelDraw
from bears.evaluation.labeling import Draw, Items


class Labelable(ABC):
    """The items in which two systems may differ.

    Attributes:
        columns: of the table, after the number of the draw and before the labels.
        blanks: the columns that people fill in.
        words: what they may write there, in lower case, to its value in the ledger.
    """

    columns: Sequence[str]
    blanks: ClassVar[tuple[str, ...]] = ("grade",)
    words: Mapping[str, int]

    @property
    @abstractmethod
    def key(self) -> str:
        """Return what the ledger calls the pair of systems, with what is compared."""

    @property
    @abstractmethod
    def names(self) -> Sequence[tuple[str, str]]:
        """Return the question_id of each item, and what it is beside that; empty for a question."""

    @property
    @abstractmethod
    def items(self) -> Items:
        """Return the items in the order of `names`."""

    @abstractmethod
    def row(self, draw: LabelDraw) -> list[Any]:
        """Return the cells of `columns`."""

    @abstractmethod
    def value(self, draw: LabelDraw) -> float:
        """Return the label of a draw on the scale of the items, the mean over people."""

    def given(self, draw: LabelDraw, labels: Sequence[int]) -> list[int]:  # noqa: ARG002
        """Return the labels of a row as the ledger keeps them."""
        return list(labels)

    @cached_property
    def place(self) -> Mapping[tuple[str, str], int]:
        """Return the place of each name."""
        return {name: place for place, name in enumerate(self.names)}

    def draws(self, labels: Iterable[LabelDraw]) -> list[LabelDraw]:
        """Return the draws of this pair, in their order."""
        return sorted((d for d in labels if d.pair == self.key), key=lambda draw: draw.draw)

    def drawn(self, draws: Iterable[LabelDraw]) -> list[Draw]:
        """Return draws of the ledger by the places of their items."""
        return [Draw(self.place[each.name], each.weight, each.largest) for each in draws]


@dataclass(frozen=True)
class ItemPair(Labelable):
    """Items that one person grades at a time, and that count differently for two systems.

    Args:
        digest: what the ledger calls the pair of systems, with what is compared.
        columns, words: of the table.
        gains: what each label of `words` counts.
        weights: question_id and name of each item to its weight, which is not 0.
        judged: the same to a judge's label, if it gave one.
        questions: the ids of all questions.
        read: returns the cells of an item.
    """

    digest: str
    columns: Sequence[str]
    words: Mapping[str, int]
    gains: Sequence[float]
    weights: Mapping[tuple[str, str], float]
    judged: Mapping[tuple[str, str], int]
    questions: Sequence[str]
    read: Callable[[str, str], list[Any]]

    @property
    def key(self) -> str:
        """Return what the ledger calls the pair."""
        return self.digest

    @property
    def names(self) -> Sequence[tuple[str, str]]:
        """Return the names of the items."""
        return list(self.weights)

    @cached_property
    def items(self) -> Items:
        """Return the items; the stratum is the judge's label."""
        unknown, best = len(self.gains), max(self.gains)
        labels = [self.judged.get(name, unknown) for name in self.names]
        number = {question: place for place, question in enumerate(self.questions)}
        return Items(
            np.array([*self.weights.values()]),
            np.array([0.0 if label == unknown else self.gains[label] for label in labels]),
            np.array(labels, int),
            [(best / 2) ** 2] * (unknown + 1),
            np.array([number[question] for question, _ in self.names], int),
            len(number),
            0,
            best,
        )

    def row(self, draw: LabelDraw) -> list[Any]:
        """Return the cells of an item."""
        return self.read(*draw.name)

    def value(self, draw: LabelDraw) -> float:
        """Return what the label counts."""
        return fmean(self.gains[label] for (label,) in draw.labels.values())
