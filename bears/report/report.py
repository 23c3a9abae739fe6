"""From files to the page."""

from collections.abc import Mapping, Sequence
from typing import Any

from bears.errors import FormatError
from bears.formats.records import read_questions
from bears.report.benchmark import BenchmarkFolders, read_benchmark
from bears.report.comparison import Comparison, ranked, with_all
from bears.report.details import candidates, details, needed
from bears.report.page import Known, page
from bears.report.standings import SHOWN
from bears.report.system import SystemFiles, read_system


def report(
    config: Mapping[str, Any],
    folders: BenchmarkFolders,
    files: Sequence[SystemFiles],
    comparison: Comparison | None,
    measure: str,
    top: int,
    values_file: str,
) -> str:
    """The page about a benchmark.

    Args:
        config: ``benchmark`` and ``sources`` of the composed configuration.
        folders: of the benchmark.
        files: of each system, whose names differ.
        comparison: of systems by their names; None: nothing was tested.
        measure: the one that decides; another one where no system has it.
        top: documents of a system that an opened question shows.

    Raises:
        FormatError: there is no system, or a file is malformed or of another benchmark.
    """
    if not files:
        raise FormatError("no run of this benchmark is here; `dvc repro` makes one")
    questions = read_questions(folders.translated / "queries.json")
    systems = [read_system(each, questions) for each in files]
    there = list(dict.fromkeys(name for system in systems for name in system.values))
    main = measure if measure in there else there[0]
    known = with_all(comparison, systems)
    order = [each["name"] for each in ranked(known, main)]
    systems.sort(key=lambda system: order.index(system.name))
    telling = candidates(len(questions), systems, main)
    gold, shown = needed((questions[at] for at in telling), systems, top)
    benchmark = read_benchmark(config, folders, questions, gold, shown)
    measures = [main, *(name for name in SHOWN if name in there and name != main)]
    opened = details(benchmark, systems, measures, telling, top)
    return page(Known(benchmark, systems, known, opened, main, values_file))
