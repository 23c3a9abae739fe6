"""From files to the page."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bears.errors import FormatError
from bears.publishing.report.benchmark import BenchmarkFolders, read_benchmark
from bears.publishing.report.comparison import Comparison, ranked, with_all
from bears.publishing.report.details import candidates, details, needed
from bears.publishing.report.page import Known, page
from bears.publishing.report.standings import SHOWN
from bears.results.system import System
from bears.types import Question


def report(
    config: Mapping[str, Any],
    folders: BenchmarkFolders,
    questions: Sequence[Question],
    systems: Sequence[System],
    comparison: Comparison | None,
    measure: str,
    top: int,
) -> str:
    """The page about a benchmark.

    Args:
        config: ``benchmark`` and ``sources`` of the composed configuration.
        folders: of the benchmark.
        questions: all of the benchmark.
        systems: one or more, of different names, with values in the order of the questions.
        comparison: of systems by their names; None: nothing was tested.
        measure: the one that decides.
        top: documents of a system that an opened question shows.

    Raises:
        FormatError: a file is malformed, no system has the measure though some have others, or it
            has values above 1.
    """
    there = list(dict.fromkeys(name for system in systems for name in map(str, system.values)))
    if there and measure not in there:
        raise FormatError(f"no system has {measure!r:.80}; the measures are {', '.join(there)}")
    if any(np.nanmax(s.values[measure], initial=0) > 1 for s in systems if measure in s.values):
        raise FormatError(f"{measure} has values above 1; the page shows measures from 0 to 1")
    known = with_all(comparison, systems)
    order = [each["name"] for each in ranked(known, measure)]
    systems = sorted(systems, key=lambda system: order.index(system.name))
    telling = candidates(len(questions), systems, measure)
    gold, shown = needed((questions[at] for at in telling), systems, top)
    benchmark = read_benchmark(config, folders, questions, gold, shown)
    measures = [measure, *(name for name in SHOWN if name in there and name != measure)]
    opened = details(benchmark, systems, measures, telling, top)
    return page(Known(benchmark, systems, known, opened, measure))
