"""Which batches are at the provider, kept so that a killed run finds them again.

The state file is JSON Lines, a batch a line, and is replaced as a whole whenever that changes:
before a batch is made (its id is empty), when the provider has made it, and when all that it
brought has been handed over.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from bears.config import parse
from bears.errors import BearsError, ConfigurationError
from bears.files.records import read_lines, write_lines
from bears.types import Closed


@dataclass(slots=True)
class Pending(Closed):
    """A batch at the provider.

    Args:
        mark: our name for it.
        keys: of its requests; the place is the ``custom_id``.
        id: the provider's name; empty until it is known.
    """

    mark: str
    keys: tuple[str, ...]
    id: str = ""


def read_pending(path: Path) -> list[Pending]:
    """The batches of a state file; one that is absent has none.

    Raises:
        ConfigurationError: a line cannot be read.
    """
    if not path.exists():
        return []
    try:
        return [parse(Pending, row, f"line {number}") for number, row in read_lines(path)]
    except BearsError as error:
        raise ConfigurationError(
            f"{path} is damaged ({error}); batches may be at the provider: "
            "look at its page, then move the file away"
        ) from None


def write_pending(path: Path, pending: Iterable[Pending]) -> None:
    """Replace a state file; it is on disk when this returns."""
    write_lines(path, map(asdict, pending))
