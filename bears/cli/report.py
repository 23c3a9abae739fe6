"""``python -m bears report``: one HTML page about a benchmark and all that was measured on it."""

import argparse
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bears.cli.experiment_files import Results, results
from bears.cli.selection import composed, results_of
from bears.errors import ConfigurationError
from bears.evaluation.timing import read_timing
from bears.formats.digest import sha256_of
from bears.formats.records import read_json, write_text

DATA = Path("data")
MEASURE = "ndcg@10"
OUT = Path("report.html")
DRAWING = ("jinja2", "vl_convert")
"""Packages that nothing else needs."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``report``."""
    parser.add_argument(
        "--out", type=Path, default=Path("report.html"), help="default: report.html"
    )
    parser.add_argument("--benchmark", default="", help="default: the one in params.yaml")
    parser.add_argument(
        "--comparison",
        type=Path,
        metavar="FILE.json",
        help="what `compare --format json` printed; without it nothing is tested",
    )
    parser.add_argument("--measure", default="", help="the one that decides")
    parser.add_argument(
        "--top", type=int, default=10, help="documents shown of a system (default 10)"
    )
    parser.set_defaults(run=_report)


def _report(arguments: argparse.Namespace) -> None:
    if lacking := [name for name in DRAWING if find_spec(name) is None]:
        raise ConfigurationError(
            f"the page is made with {' and '.join(lacking)}, which `make report` installs"
        )
    from bears.report.benchmark import BenchmarkFolders
    from bears.report.comparison import parse_comparison
    from bears.report.report import report

    config = composed(arguments.benchmark, [])
    name = config["benchmark"]["name"]
    translated, _ = results_of(name, None)
    folders = BenchmarkFolders(
        translated,
        DATA / name / "sampled",
        DATA / name / "verified",
        DATA / "raw" / name / "sources.json",
    )
    files = [_files(each, name) for each in results(name, translated)]
    comparison = None
    if arguments.comparison:
        comparison = parse_comparison(read_json(arguments.comparison), str(arguments.comparison))
    measure = arguments.measure or MEASURE
    text = report(
        config,
        folders,
        files,
        comparison,
        measure,
        arguments.top,
        f"data/{name}/runs/*.questions.csv",
    )
    write_text(arguments.out, text)
    size = len(text.encode()) / 1e6
    print(f"{arguments.out}: {len(files)} systems on {name}, {size:.1f} MB; open it in a browser")


def _files(found: Results, benchmark: str) -> Any:
    from bears.report.system import SystemFiles

    return SystemFiles(
        found.name, found.run, found.questions, found.answers, dict(_cost(found, benchmark))
    )


def _cost(found: Results, benchmark: str) -> Iterator[tuple[str, float]]:
    """What the run cost, where its timing is here."""
    folder = DATA / benchmark
    timing = read_timing(folder / "runs" / f"{found.retriever}.timing.json", sha256_of(found.run))
    if timing:
        total = timing["stages_ms"]["total"]
        yield from (("p50_ms", total["p50"]), ("p95_ms", total["p95"]))
        indexing = folder / "index" / f"{found.retriever}.timing.json"
        known: Mapping[str, Any] = read_json(indexing) if indexing.is_file() else {}
        for name in ("index_s", "index_bytes"):
            if isinstance(known.get(name), int | float):
                yield name, known[name]
