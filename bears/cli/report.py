"""``python -m bears report``: one HTML page about a benchmark and all that was measured on it."""

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bears.cli.prices import dollars
from bears.cli.selection import composed, main_of, results_of
from bears.errors import FormatError
from bears.evaluation.comparison.result import compare
from bears.evaluation.timing import read_timing
from bears.files.digest import sha256_of
from bears.files.records import read_json, read_questions, write_text
from bears.publishing.report.benchmark import BenchmarkFolders
from bears.publishing.report.comparison import Comparison, parse_comparison
from bears.publishing.report.report import report
from bears.results.origins import ran
from bears.results.revision import ANSWERED, JUDGEMENTS, RUN, WITHIN
from bears.results.system import System
from bears.types import Question

DATA = Path("data")
OUT = Path("report.html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``report``."""
    parser.description = (
        "Write one HTML file about the benchmark and every run of it that is here or in DVC's "
        "cache: which system to take and how sure that is, intervals, recall, time, and every "
        "question with what each system found. It needs no network."
    )
    parser.add_argument("--out", type=Path, default=OUT, help=f"default: {OUT}")
    parser.add_argument("--benchmark", default="", help="default: the one in params.yaml")
    parser.add_argument(
        "--comparison",
        type=Path,
        metavar="FILE.json",
        help="what `compare --format json` printed; default: all systems are compared here",
    )
    parser.add_argument("--measure", default="", help="the one that decides, such as recall@10")
    parser.add_argument("--top", type=_count, default=10, help="documents of a system; default: 10")
    parser.add_argument(
        "--all-commits", action="store_true", help="experiments of every commit, not of HEAD alone"
    )
    parser.set_defaults(run=_report)


def _count(word: str) -> int:
    if not (word.isdecimal() and 0 < int(word) <= 100):
        raise argparse.ArgumentTypeError(f"{word!r} is not a whole number from 1 to 100")
    return int(word)


def _report(arguments: argparse.Namespace) -> None:
    config = composed(arguments.benchmark, [])
    name = config["benchmark"]["name"]
    translated, _ = results_of(name, None)
    questions = read_questions(translated / "queries.json")
    systems = _systems(name, translated, arguments.all_commits)
    folders = BenchmarkFolders(
        translated,
        DATA / name / "sampled",
        DATA / name / "verified",
        DATA / "raw" / name / "sources.json",
        DATA / name / "audited",
        DATA / name / "tax",
    )
    files = [_shown(system, questions, translated) for system in systems]
    main = arguments.measure or _main(config, systems)
    comparison = _comparison(arguments.comparison, systems, main)
    text = report(config, folders, questions, files, comparison, main, arguments.top)
    write_text(arguments.out, text)
    what = f"{len(files)} systems" if len(files) > 1 else "1 system"
    print(f"{arguments.out}: {what} on {name}, {len(text.encode()) / 1e6:.1f} MB")


def _systems(name: str, translated: Path, all_commits: bool) -> list[System]:
    """What ran on the very records that lie here, with its rankings."""
    state = {"queries": sha256_of(translated / "queries.json")}
    state["corpus"] = sha256_of(translated / "corpus.json")
    for group in ran(all_commits):
        here = [each for each in group if state.items() <= each.benchmark.items() and each.run]
        if here:
            return here
    raise FormatError(f"no run on {name} as it lies in {translated}; `dvc repro` makes one")


def _main(config: Mapping[str, Any], systems: Sequence[System]) -> str:
    """The measure that orders the benchmark; where it is not measured, the first that is."""
    wanted = main_of(config)
    there = list(map(str, systems[0].values.columns))
    return wanted if wanted in there or not there else there[0]


def _comparison(file: Path | None, systems: Sequence[System], main: str) -> Comparison | None:
    if file:
        compared = parse_comparison(read_json(file), str(file))
        state = str(systems[0].benchmark["state"])
        if (said := compared.get("state", "")) not in ("", state):
            raise FormatError(
                f"{file} is of state {said!r:.40} of {compared.get('benchmark', '')!r:.80}, the "
                f"page of {state}; compare the systems of this one, or leave out --comparison"
            )
        return compared
    if len(systems) == 1 or not len(systems[0].values.columns):
        return None
    return parse_comparison(compare(systems, (), main), "compare")


def _shown(system: System, questions: Sequence[Question], translated: Path) -> System:
    """Return a system with its answers and costs, its values in the order of the questions."""
    revision = system.revision
    assert revision is not None
    answers, judgements = revision.output(ANSWERED), revision.output(JUDGEMENTS)
    priced = dollars(revision.config, translated, system.run, revision.output(WITHIN))
    paid = zip(("usd_low", "usd_high"), priced or (), strict=False)
    return replace(
        system,
        values=system.values.loc[[question.question_id for question in questions]],
        files=(answers, judgements) if answers and judgements else None,
        cost={**dict(_cost(revision.outputs, system.run or Path())), **dict(paid)},
    )


def _cost(outputs: Mapping[str, str], run: Path) -> Iterator[tuple[str, float]]:
    """Yield what a run cost, if its timing is still here: that is no output of DVC."""
    for path in (Path(path) for path in outputs if re.fullmatch(RUN, path)):
        if timing := read_timing(path.with_suffix(".timing.json"), sha256_of(run)):
            total = timing["stages_ms"]["total"]
            yield from (("p50_ms", total["p50"]), ("p95_ms", total["p95"]))
            indexing = path.parent.parent / "index" / f"{path.stem}.timing.json"
            known: Any = read_json(indexing) if indexing.is_file() else {}
            for name in ("index_s", "index_bytes"):
                if isinstance(known, dict) and isinstance(known.get(name), int | float):
                    yield name, float(known[name])
