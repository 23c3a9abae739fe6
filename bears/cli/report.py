"""``bears report``: an HTML page about a benchmark and everything that was measured on it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bears.cli.prices import dollars
from bears.cli.selection import composed, records_of
from bears.config.typed import select
from bears.errors import ConfigurationError, FormatError
from bears.evaluation.timing import read_timing
from bears.files.digest import sha256_of
from bears.files.records import read_json, write_text
from bears.layout import BenchmarkFiles
from bears.publishing.report.benchmark import ReportKeys
from bears.publishing.report.page import report
from bears.results.origins import ran_on
from bears.results.records import Records
from bears.results.revision import ANSWERED, JUDGEMENTS, RUN, WITHIN
from bears.results.system import System


def write_report(
    *,
    out: Path = Path("report.html"),
    benchmark: str = "",
    measure: str = "",
    top: int = 10,
    all_commits: bool = False,
) -> None:
    """Write one HTML file about the benchmark and its runs, here or in DVC's cache.

    It shows which system to take and how certain that is, intervals, recall, time, and every
    question with what each system found. The page needs no network.

    Args:
        out: default: report.html
        measure: the measure that decides, such as recall@10
        top: documents of each system, 1 to 100; default: 10
    """
    if not 1 <= top <= 100:
        raise ConfigurationError(f"--top is {top}; expected a whole number from 1 to 100")
    keys = select(ReportKeys, composed(benchmark))
    name = keys.benchmark.name
    records = records_of(name)
    systems = ran_on(records, all_commits)
    if not systems:
        raise FormatError(f"no run on {name} as it is in {records.folder}; `dvc repro` makes one")
    columns = list(map(str, systems[0].values.columns))
    main = measure or records.settings.evaluate.main
    if not measure and columns and main not in columns:
        main = columns[0]
    described = [_described(system, records) for system in systems]
    text = report(keys, BenchmarkFiles(name), records.questions, described, main, top)
    write_text(out, text)
    what = f"{len(systems)} systems" if len(systems) > 1 else "1 system"
    print(f"{out}: {what} on {name}, {len(text.encode()) / 1e6:.1f} MB")


COMMAND = write_report


def _described(system: System, records: Records) -> System:
    """Return a system with its answers and costs, its values in the order of the questions."""
    revision = system.revision
    assert revision is not None
    answers, judgements = revision.output(ANSWERED), revision.output(JUDGEMENTS)
    priced = dollars(revision.config, records.folder, system.run, revision.output(WITHIN))
    paid = zip(("usd_low", "usd_high"), priced or (), strict=False)
    return replace(
        system,
        values=system.values.loc[[question.question_id for question in records.questions]],
        files=(answers, judgements) if answers and judgements else None,
        cost={**dict(_times(revision.outputs, system.run or Path())), **dict(paid)},
    )


def _times(outputs: Mapping[str, str], run: Path) -> Iterator[tuple[str, float]]:
    """Yield the times of a run and its index, if they are still here: DVC does not keep them."""
    for path in (Path(path) for path in outputs if re.fullmatch(RUN, path)):
        if timing := read_timing(path.with_suffix(".timing.json"), sha256_of(run)):
            total = timing["stages_ms"]["total"]
            yield from (("p50_ms", total["p50"]), ("p95_ms", total["p95"]))
            indexing = path.parent.parent / "index" / f"{path.stem}.timing.json"
            known: Any = read_json(indexing) if indexing.is_file() else {}
            for name in ("index_s", "index_bytes"):
                if isinstance(known, dict) and isinstance(known.get(name), int | float):
                    yield name, float(known[name])
