"""What people label, of two systems: items with a weight, and the table in which they do it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from bears.config.ledger.entries import LabelDraw
from bears.evaluation.labeling import Draw, Items


class Labelable(ABC):
    """The items in which two systems may differ.

    Attributes:
        columns: of the table, after the number of the draw and before the labels.
        blanks: the columns that people fill in.
        words: what they may write there, in lower case, to its value in the ledger.
    """

    columns: ClassVar[tuple[str, ...]]
    blanks: ClassVar[tuple[str, ...]]
    words: ClassVar[Mapping[str, int]]

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
