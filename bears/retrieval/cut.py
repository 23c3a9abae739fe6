"""How many texts a model did not read to their end."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from bears.files.records import read_json, write_json
from bears.types import Ranking

FILE = "cut.json"
MANY = 0.1
"""The share of texts beyond which a cut is a warning."""


@dataclass(frozen=True, slots=True)
class Cut:
    """How much of some texts one model read.

    Args:
        what: the kind of text: indexed texts, questions, reranked pairs.
        tokens: how many the model reads of a text.
        texts: how many there are.
        cut: how many of them are longer than that.
        characters: of the texts that were cut.
        unread: of these, how many the model did not read.
    """

    what: str
    tokens: int
    texts: int = 0
    cut: int = 0
    characters: int = 0
    unread: int = 0

    @classmethod
    def of(cls, what: str, tokens: int, lengths: Iterable[int], unread: Sequence[int]) -> "Cut":
        """Count, from the characters of each text and the characters of each that are not read."""
        characters = sum(length for length, left in zip(lengths, unread, strict=True) if left)
        return cls(what, tokens, len(unread), sum(map(bool, unread)), characters, sum(unread))

    def __add__(self, other: "Cut") -> "Cut":
        return replace(
            self,
            texts=self.texts + other.texts,
            cut=self.cut + other.cut,
            characters=self.characters + other.characters,
            unread=self.unread + other.unread,
        )

    @property
    def share(self) -> float:
        """Return the part of the texts that were cut that was not read, from 0 to 1."""
        return self.unread / max(self.characters, 1)

    def __str__(self) -> str:
        many = "warning: " if self.cut > MANY * self.texts else ""
        return (
            f"{many}{self.cut:,} of {self.texts:,} {self.what} were cut at {self.tokens:,} tokens; "
            f"{100 * self.share:.0f} % of their text was not read"
        )


@runtime_checkable
class Limited(Protocol):
    """A searcher whose model may not read a text to its end."""

    def cut(self, question: str, ranking: Ranking) -> list[Cut]:
        """Return what was not read of a question, or of the texts it was compared with.

        Args:
            question: its text.
            ranking: the result of the search.
        """


def summed(cuts: Iterable[Cut]) -> list[Cut]:
    """Return one sum for each kind of text and limit."""
    sums: dict[tuple[str, int], Cut] = {}
    for cut in cuts:
        key = cut.what, cut.tokens
        sums[key] = sums[key] + cut if key in sums else cut
    return list(sums.values())


def write_cuts(cuts: Iterable[Cut], folder: Path) -> None:
    """Write what was cut beside an index, if anything was."""
    if rows := as_rows(cuts):
        write_json(folder / FILE, rows)


def cuts_below(folder: Path) -> list[Cut]:
    """Return what `write_cuts` wrote into an index and the indexes inside it."""
    return cuts_in(sorted(folder.rglob(FILE)))


def cuts_in(files: Iterable[Path]) -> list[Cut]:
    """Return what `write_cuts` wrote into these files."""
    return summed(Cut(**values) for values in chain.from_iterable(map(read_json, files)))


def as_rows(cuts: Iterable[Cut]) -> list[dict[str, Any]]:
    """Return the cuts as JSON values, without those that cut nothing."""
    return [asdict(cut) for cut in summed(cuts) if cut.cut]


def messages(cuts: Iterable[Cut]) -> list[str]:
    """Return the cuts as sentences, without those that cut nothing."""
    return [str(cut) for cut in summed(cuts) if cut.cut]
