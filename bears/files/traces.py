"""Files of traces: a line of JSON for each question. Fields with their default are left out."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from bears.files.records import adapter_of, read_lines, value_as, write_lines
from bears.trace import Trace


def write_traces(path: Path, traces: Iterable[Trace]) -> None:
    """Write a line for each trace, in their order."""
    adapter = adapter_of(Trace)
    rows = (adapter.dump_python(each, mode="json", exclude_defaults=True) for each in traces)
    write_lines(path, rows)


def read_traces(path: Path) -> Iterator[Trace]:
    """Yield the traces of a file. Raises FormatError."""
    # Without a generator, the file of answers has an empty line.
    for number, row in read_lines(path, blank=True):
        yield value_as(Trace, row, f"{path}, line {number}")
