"""Change a ledger's file."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from bears.config import read_ledger, write_yaml
from bears.config.ledger.agreement import agreement
from bears.config.ledger.entries import Decision, Ledger
from bears.config.typed import parse
from bears.errors import LedgerError
from bears.files.lock import locked_folder
from bears.files.records import to_line

D = TypeVar("D", bound=Decision)


@dataclass(frozen=True)
class Taken(Generic[D]):
    """What `OpenLedger.take` did.

    Args:
        kept: the decisions that changed something, as the ledger has them.
        gone: how many earlier ones were replaced or removed.
        compared: how many could be compared with earlier ones.
    """

    kept: Sequence[D]
    gone: int
    compared: int


class OpenLedger:
    """A ledger's file while no other process changes it.

    Args:
        path: of the file; `add` creates it if it is missing.

    Raises:
        ConfigurationError: the file is not a ledger.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._content = path, read_ledger(path)
        self.decisions = parse(Ledger, self._content, str(path))

    def add(
        self, part: str, entries: Iterable[Decision], gone: Collection[tuple[Any, ...]] = ()
    ) -> None:
        """Add entries; one replaces an earlier one at its place.

        Entries are sorted, so the result does not depend on the order of additions. The file is
        changed whole or not at all.

        Args:
            part: replacements, edits, reviews, judgements, labels or nuggets.
            gone: the places of earlier entries to remove.
        """
        known: Iterable[Decision] = getattr(self.decisions, part)
        by_place = {each.place: each for each in known if each.place not in gone}
        by_place |= {each.place: each for each in entries}
        # What is empty says nothing.
        rows = [{k: v for k, v in asdict(each).items() if v} for each in by_place.values()]
        self._content[part] = sorted(rows, key=to_line)
        write_yaml(self._path, self._content)

    def take(self, part: str, new: Sequence[D], file: Path, what: str, replaced: bool) -> Taken[D]:
        """Add what people decided, and print how far it agrees with what was decided before.

        Args:
            part: as in `add`.
            new: the decisions of a file.
            file: in messages.
            what: these are about, with their verb.
            replaced: whether earlier decisions may be changed.

        Raises:
            LedgerError: naming one that differs from an earlier one, of the same person where those
                of several people are kept apart.
        """
        known: dict[Any, D] = {each.place: each for each in getattr(self.decisions, part)}
        places = {about: place for place, each in known.items() for about in each.about}
        pairs, differ, gone = list[tuple[object, object]](), list[str](), set[Any]()
        taken = list[D]()
        for each in new:
            [(author, now)] = each.given.items()
            olds = {places[about] for about in {each.place, *each.about} if about in places}
            before = [said for place in olds for said in known[place].given.items()]
            for _, was in before:
                pairs += zip(_choices(was), _choices(now), strict=True)
            own = [said for said in before if not each.apart or said[0] == author]
            other = [said for said in own if said[1] != now]
            for who, was in other[:1]:
                gone |= olds
                about = _words([*filter(None, each.place)]) + (f", by {who}" if who else "")
                differ.append(f"{about}, which was {_words(was)} and is {_words(now)}")
            kept = each.after(known.get(each.place))
            if kept and (other or each.apart or not before):
                taken.append(kept)
        print(agreement(pairs, f"{what} before"), end="")
        if differ and not replaced:
            raise LedgerError(
                f"{file}: {len(differ)} {what} otherwise before, such as {differ[0]}. Nothing was "
                "imported; --replace overwrites the earlier ones"
            )
        self.add(part, taken, gone)
        return Taken(taken, len(gone), len(pairs))


def _words(said: Sequence[object]) -> str:
    return " ".join(map(str, said))


def _choices(said: Sequence[object]) -> list[str]:
    """Return what was chosen, without the text that goes with it."""
    return [str(each).partition(" ")[0] for each in said]


@contextmanager
def open_ledger(path: Path) -> Iterator[OpenLedger]:
    """Hold a ledger's file, so that what is compared with it is what is changed."""
    with locked_folder(path):
        yield OpenLedger(path)
