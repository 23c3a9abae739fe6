"""How many texts a model did not read to their end."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
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
    """Texts that one model was given.

    Args:
        what: they are: indexed texts, questions, reranked pairs.
        tokens: that the model reads of one.
        texts: how many there are.
        cut: those that are longer than that.
        characters: of those that were cut.
        unread: of these, what the model did not read.
    """

    what: str
    tokens: int
    texts: int = 0
    cut: int = 0
    characters: int = 0
    unread: int = 0

    @classmethod
    def of(cls, what: str, tokens: int, lengths: Iterable[int], unread: Sequence[int]) -> "Cut":
        """From the characters of each text, and those of each that are not read."""
        cut = [(n, left) for n, left in zip(lengths, unread, strict=True) if left]
        characters, lost = (sum(column) for column in zip((0, 0), *cut, strict=True))
        return cls(what, tokens, len(unread), len(cut), characters, lost)

    def __add__(self, other: "Cut") -> "Cut":
        counts = {
            field.name: getattr(self, field.name) + getattr(other, field.name)
            for field in fields(self)[2:]
        }
        return replace(self, **counts)

    def __str__(self) -> str:
        many = "warning: " if self.cut > MANY * self.texts else ""
        return (
            f"{many}{self.cut:,} of {self.texts:,} {self.what} were cut at {self.tokens:,} tokens; "
            f"{100 * self.unread / max(self.characters, 1):.0f} % of their text was not read"
        )


@runtime_checkable
class Limited(Protocol):
    """A searcher whose model may not read all of a text."""

    def cut(self, question: str, ranking: Ranking) -> list[Cut]:
        """What was not read of a question, or of what it was compared with.

        Args:
            question: its text.
            ranking: what was found.
        """


def summed(cuts: Iterable[Cut]) -> list[Cut]:
    """One for each kind of text and limit."""
    found: dict[tuple[str, int], Cut] = {}
    for cut in cuts:
        key = cut.what, cut.tokens
        found[key] = found[key] + cut if key in found else cut
    return list(found.values())


def write_cuts(cuts: Iterable[Cut], folder: Path) -> None:
    """Keep what was cut beside an index; nothing where nothing was."""
    if found := plain(cuts):
        write_json(folder / FILE, found)


def cuts_below(folder: Path) -> list[Cut]:
    """What `write_cuts` kept below a folder: an index may have others within."""
    found = (read_json(path) for path in sorted(folder.rglob(FILE)))
    return summed(Cut(**values) for values in chain.from_iterable(found))


def plain(cuts: Iterable[Cut]) -> list[dict[str, Any]]:
    """As JSON values, where something was cut."""
    return [asdict(cut) for cut in summed(cuts) if cut.cut]


def told(cuts: Iterable[Cut]) -> list[str]:
    """As sentences, where something was cut."""
    return [str(cut) for cut in summed(cuts) if cut.cut]
